(function () {
  "use strict";
  var source = document.getElementById("hw-data");
  if (!source) { return; }
  var data = JSON.parse(source.textContent);
  var units = ["B", "KiB", "MiB", "GiB", "TiB"];
  function grouped(number) { return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u00a0"); }
  function size(bytes) {
    var value = bytes, unit = 0;
    while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
    if (unit === 0) { return bytes + "\u00a0B"; }
    return value.toFixed(value >= 100 ? 1 : value >= 10 ? 2 : 3) + "\u00a0" + units[unit] + " (" + grouped(bytes) + "\u00a0B)";
  }
  function words(lane, column) {
    var first = column[0], last = column[1], parts = [];
    var one = first === last;
    var at = function (step) { return one ? "" : " on " + data.word + "\u00a0" + grouped(step); };
    parts.push(one ? data.word + "\u00a0" + grouped(first) : data.word + "s " + grouped(first) + " to " + grouped(last));
    if (data.ops[column[6]]) { parts.push(data.ops[column[6]] + at(column[5])); }
    if (lane.stops !== null && first > lane.stops) {
      parts.push("not reached: out of memory on " + data.word + "\u00a0" + grouped(lane.stops));
      return parts.join(" \u00b7 ");
    }
    if (lane.reserved) { parts.push((one ? "reserved " : "reserved up to ") + size(column[2]) + at(column[3])); }
    if (lane.live) { parts.push((one ? "live " : "live up to ") + size(column[4]) + at(column[5])); }
    return parts.join(" \u00b7 ");
  }
  document.documentElement.classList.add("scripted");
  document.querySelectorAll("figure[data-lane]").forEach(function (figure) {
    var lane = data.lanes[Number(figure.getAttribute("data-lane"))];
    var svg = figure.querySelector("svg"), output = figure.querySelector("output");
    if (!lane || !svg || !output || !lane.columns.length) { return; }
    var box = svg.viewBox.baseVal, plot = box.width - data.left - data.right, now = -1;
    var line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "cursor");
    line.setAttribute("y1", "0");
    line.setAttribute("y2", String(box.height));
    function show(number, block) {
      now = Math.max(0, Math.min(lane.columns.length - 1, number));
      var x = data.left + (now + 0.5) / lane.columns.length * plot;
      line.setAttribute("x1", String(x));
      line.setAttribute("x2", String(x));
      if (!line.parentNode) { svg.appendChild(line); }
      output.textContent = words(lane, lane.columns[now]);
      if (block) {
        output.appendChild(document.createElement("br"));
        output.appendChild(document.createTextNode(block));
      }
    }
    figure.setAttribute("tabindex", "0");
    figure.addEventListener("pointermove", function (event) {
      var place = svg.getBoundingClientRect();
      var x = (event.clientX - place.left) / place.width * box.width - data.left;
      if (x < 0 || x > plot || event.clientY < place.top || event.clientY > place.bottom) { return; }
      var title = event.target.querySelector ? event.target.querySelector(":scope > title") : null;
      var block = title && event.target.tagName === "rect" ? title.textContent : "";
      show(Math.floor(x / plot * lane.columns.length), block);
    });
    figure.addEventListener("keydown", function (event) {
      var jump = event.shiftKey ? 20 : 1;
      var to = { ArrowLeft: now - jump, ArrowRight: now + jump, Home: 0, End: lane.columns.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) { return; }
      event.preventDefault();
      show(to, "");
    });
  });
})();
