//! Who has whose memory: what starts and ends pass on, updates in place, loops, donated parameters; layouts and memories.

use super::*;
use highwater_model::graph::{Bindings, Graph};

/// Tensors that have the memory of another: `tensor=other`, in the order of tensors.
fn shared(graph: &Graph) -> String {
    let name = |id| graph.tensor_name(id);
    let root = |id| graph.storages()[graph.tensors()[id].storage].root;
    let views = graph.tensors().ids().filter(|id| root(*id) != *id);
    let views: Vec<String> = views.map(|id| format!("{}={}", name(id), name(root(id)))).collect();
    views.join(" ")
}

fn module(text: &str) -> GraphEntry {
    let imported = read("f.txt", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    entry(&imported).clone()
}

/// The entry of `lines`, with a header of this rest.
fn check(header: &str, lines: &str, expect: &str) {
    let entry = module(&format!("HloModule m{header}\n\n{lines}"));
    let graphs = std::iter::once(&entry.graph).chain(&entry.bodies);
    let found: Vec<String> = graphs.map(|graph| shared(graph)).collect();
    assert_eq!(found.join(" | "), expect, "{lines}");
}

#[test]
fn results_take_the_memory_of_operands_that_end() {
    let scheduled = ", is_scheduled=true";
    for (lines, expect) in [
        // Element-wise ops, not in parameters nor in operands that are read later; not into outputs.
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] sine(p)\n b = f32[8] cosine(a)\n c = f32[8] add(b, p)\n ROOT \
             r = f32[] custom-call(c)\n}",
            "b=a c=a",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] sine(p)\n b = f32[8] cosine(a)\n ROOT r = f32[] \
             custom-call(a, b)\n}",
            "",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] sine(p)\n ROOT r = f32[8] reverse(a)\n}",
            "",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] custom-call(p)\n ROOT r = f32[8] cosine(a)\n}",
            "a=r",
        ),
        // Another type or shape is another size.
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] sine(p)\n b = s8[8] convert(a)\n ROOT r = f32[] \
             custom-call(b)\n}",
            "",
        ),
        // Updates, also into outputs; of a parameter a copy.
        (
            "ENTRY e {\n p = f32[] parameter(0)\n u = f32[1] parameter(1)\n b = f32[8] broadcast(p)\n c = f32[8] \
             dynamic-update-slice(b, u, p)\n ROOT d = f32[8] dynamic-update-slice(c, u, p)\n}",
            "c=b d=b",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n u = f32[1] parameter(1)\n i = s32[] parameter(2)\n ROOT d = f32[8] \
             dynamic-update-slice(p, u, i)\n}",
            "",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n i = s32[2] parameter(1)\n u = f32[2] parameter(2)\n a = f32[8] \
             custom-call(p)\n ROOT d = f32[8] scatter(a, i, u), to_apply=x\n}",
            "d=a",
        ),
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[8] custom-call(p)\n ROOT d = (f32[8], f32[8]) custom-call(a, \
             p), output_to_operand_aliasing={{1}: (0, {})}\n}",
            "d{1}=a",
        ),
        // Sorts: each output in its own operand.
        (
            "ENTRY e {\n p = f32[8] parameter(0)\n q = s32[8] parameter(1)\n a = f32[8] custom-call(p)\n b = s32[8] \
             custom-call(q)\n s = (f32[8], s32[8]) sort(a, b), to_apply=x\n x = f32[8] get-tuple-element(s), index=0\n \
             ROOT r = f32[] custom-call(s)\n}",
            "s{0}=a s{1}=b",
        ),
    ] {
        check(scheduled, lines, expect);
    }
}

#[test]
fn fusions_compute_in_place_what_their_computation_does() {
    let fused = |body: &str, kind: &str| {
        format!(
            "f {{\n x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n i = s32[] parameter(2)\n {body}\n}}\nENTRY e {{\n p = \
             f32[8] parameter(0)\n i = s32[] parameter(1)\n a = f32[8] custom-call(p)\n b = f32[8] custom-call(p)\n c = \
             f32[8] fusion(a, b, i), kind={kind}, calls=f\n ROOT r = f32[] custom-call(c)\n}}"
        )
    };
    for (body, kind, expect) in [
        ("ROOT z = f32[8] add(x, y)", "kLoop", "c=a"),
        ("ROOT z = f32[8] add(x, y)", "kCustom", ""),
        ("v = f32[8] reverse(x)\n ROOT z = f32[8] add(v, y)", "kLoop", "c=b"),
        (
            "v = f32[8] reverse(y)\n w = f32[8] add(v, x)\n ROOT z = f32[8] reverse(w)",
            "kLoop",
            "",
        ),
        ("ROOT z = f32[8] dynamic-update-slice(y, x, i)", "kCustom", "c=b"),
        (
            "v = f32[8] bitcast(y)\n w = f32[8] dynamic-update-slice(v, x, i)\n ROOT z = f32[8] bitcast(w)",
            "kLoop",
            "c=b",
        ),
        // What is not understood within a fusion does not matter.
        ("ROOT z = f32[8] add(x, missing)", "kLoop", ""),
    ] {
        check(", is_scheduled=true", &fused(body, kind), expect);
    }
}

#[test]
fn donated_parameters_hold_the_outputs() {
    let lines = "ENTRY e {\n p = f32[8] parameter(0)\n q = (f32[8], f32[4]) parameter(1)\n a = f32[8] sine(p)\n b = f32[4] \
                 get-tuple-element(q), index=1\n c = f32[4] cosine(b)\n ROOT r = (f32[4], f32[8]) tuple(c, a)\n}";
    check("", lines, "");
    check(", input_output_alias={ {1}: (0, {}, may-alias) }", lines, "a=p");
    check(
        ", input_output_alias={ {0}: (1, {1}, must-alias), {1}: (0, {}), {7}: (9, {}) }",
        lines,
        "a=p c=q{1}",
    );
    let chain = "ENTRY e {\n p = f32[8] parameter(0)\n u = f32[1] parameter(1)\n a = f32[8] dynamic-update-slice(p, u)\n ROOT \
                 b = f32[8] dynamic-update-slice(a, u)\n}";
    check(", input_output_alias={ {}: (0, {}) }", chain, "a=p b=p");
    // Between its last reader and the output, its memory takes what fits: `c` and then `d`, not `e`, which is too large.
    let between = "ENTRY e {\n p = f32[8] parameter(0)\n a = f32[] custom-call(p)\n c = f32[8] custom-call(a)\n e = f32[9] \
                   custom-call(c)\n d = f32[2] custom-call(e)\n f = f32[] custom-call(d)\n ROOT r = f32[8] \
                   custom-call(f)\n}";
    check(
        ", is_scheduled=true, input_output_alias={ {}: (0, {}) }",
        between,
        "c=p d=p r=p",
    );
}

#[test]
fn loops_run_in_the_memory_of_their_state() {
    let loops = |body: &str, init: &str| {
        format!(
            "b {{\n s = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n x = f32[8] \
             get-tuple-element(s), index=1\n {body}\n ROOT t = (s32[], f32[8]) tuple(i, y)\n}}\nc {{\n s = (s32[], f32[8]) \
             parameter(0)\n ROOT r = pred[] custom-call(s)\n}}\nENTRY e {{\n z = s32[] parameter(0)\n p = f32[8] \
             parameter(1)\n n = s32[] copy(z)\n a = f32[8] copy(p)\n o = (s32[], f32[8]) tuple(n, {init})\n w = (s32[], f32[8]) \
             while(o), condition=c, body=b\n ROOT r = f32[8] get-tuple-element(w), index=1\n}}"
        )
    };
    let scheduled = ", is_scheduled=true";
    // The table of the new state is in the old one's place.
    check(
        scheduled,
        &loops("y = f32[8] reverse(x)", "a"),
        "w{}=o{} w{0}=n w{1}=a | y=s{1} t{}=s{} | ",
    );
    // Not scheduled: XLA has yet to copy.
    check(
        "",
        &loops("y = f32[8] reverse(x)", "a"),
        "w{}=o{} w{0}=n w{1}=a | t{}=s{} | ",
    );
    check(
        "",
        &loops("v = f32[8] reverse(x)\n y = f32[8] negate(v)", "a"),
        "w{}=o{} w{0}=n w{1}=a | y=s{1} t{}=s{} | ",
    );
    // A parameter is the caller's, unless the body only hands it on.
    check(
        scheduled,
        &loops("y = f32[8] copy(x)", "p").replace("tuple(i, y)", "tuple(i, x)"),
        "w{}=o{} w{0}=n w{1}=p | t{}=s{} | ",
    );
    check(
        scheduled,
        &loops("y = f32[8] reverse(x)", "p"),
        "a=w{1} w{}=o{} w{0}=n | y=s{1} t{}=s{} | ",
    );
}

#[test]
fn starts_pass_their_operands_on_and_dones_the_result() {
    for (start, done, tensors) in [
        (
            "(f32[8], f32[32]) all-gather-start(a)",
            "f32[32] all-gather-done(s)",
            "p a s{} s{1} r",
        ),
        (
            "(f32[8], f32[8], u32[], u32[]) collective-permute-start(a)",
            "f32[8] collective-permute-done(s)",
            "p a s{} s{1} s{2} s{3} r",
        ),
        (
            "(f32[8], f32[8], u32[]) copy-start(a)",
            "f32[8] copy-done(s)",
            "p a s{} s{0} s{2} r",
        ),
        (
            "((f32[8], f32[8]), f32[4], u32[]) custom-call-start(a, p)",
            "f32[4] custom-call-done(s)",
            "p a s{} s{0} s{1} s{2} r",
        ),
        ("f32[8] all-reduce-start(a)", "f32[8] all-reduce-done(s)", "p a s r"),
        (
            "(f32[8], u32[], token[]) send(a)",
            "token[] send-done(s)",
            "p a s{} s{1} s{2} d r",
        ),
        (
            "(f32[8], u32[], token[]) recv(a)",
            "(f32[8], token[]) recv-done(s)",
            "p a s{} s{0} s{1} s{2} d{} d{1} r",
        ),
    ] {
        let text = format!(
            "ENTRY e {{\n p = f32[8] parameter(0)\n a = f32[8] custom-call(p)\n s = {start}\n d = {done}\n ROOT r = f32[] \
             custom-call(d)\n}}"
        );
        let entry = module(&text);
        let names = entry.graph.tensors().ids().map(|id| entry.graph.tensor_name(id));
        assert_eq!(names.collect::<Vec<_>>().join(" "), tensors, "{text}");
    }
}

#[test]
fn operands_may_be_elements_of_tuples() {
    let short = "ENTRY e {\n p = (f32[4], (f32[8], f32[2])) parameter(0)\n a = f32[4] sine(f32[4] %p#0)\n ROOT r = f32[2] \
                 custom-call(p#1#1, %p#0, a)\n}";
    let long = "ENTRY e {\n p = (f32[4], (f32[8], f32[2])) parameter(0)\n p#0 = f32[4] get-tuple-element(p), index=0\n a = \
                f32[4] sine(p#0)\n p#1 = (f32[8], f32[2]) get-tuple-element(p), index=1\n p#1#1 = f32[2] \
                get-tuple-element(p#1), index=1\n ROOT r = f32[2] custom-call(p#1#1, p#0, a)\n}";
    let ops = |text: &str| {
        let graph = module(text).graph;
        let op = |op| {
            (
                graph.op_name(op).to_owned(),
                graph.operands(op).to_vec(),
                graph.results(op).to_vec(),
            )
        };
        graph.ops().ids().map(op).collect::<Vec<_>>()
    };
    assert_eq!(ops(short), ops(long));
    for (bad, message) in [("p#2", "no element 2"), ("p#x", "no position"), ("a#0", "no element 0")] {
        let text = short.replace("p#1#1", bad);
        let error = read("f.txt", text.as_bytes()).map(|_| ()).expect_err(bad).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn arrays_count_where_they_lie_and_as_they_are_laid_out() {
    let bytes = |shape: &str| {
        let entry = module(&format!("ENTRY e {{\n ROOT p = {shape} parameter(0)\n}}"));
        let sizes = entry.graph.sizes(&Bindings::new());
        let ids = entry.graph.tensors().ids();
        ids.map(|id| sizes.tensor(id).unwrap_or(0)).collect::<Vec<u64>>()
    };
    for (shape, expect) in [
        ("f32[3,100]{1,0}", &[1200][..]),
        ("f32[3,100]{1,0:T(8,128)}", &[4096]),
        ("bf16[3,100]{0,1:T(8,128)(2,1)}", &[2 * 104 * 128]),
        ("s4[7]{0:E(4)}", &[4]),
        ("s4[7]{0:E(8)}", &[7]),
        ("f6e2m3fn[7]{0}", &[7]),
        ("f6e3m2fn[7]{0:E(6)}", &[6]),
        ("u1[7]{0}", &[7]),
        ("b(f32[4]{0})", &[16]),
        ("(f32[4]{0:S(5)}, f32[4]{0:S(1)}, f32[4]{0:S(0)})", &[24, 0, 0, 16]),
        ("f32[<=4,?]{1,0:T(8,128)}", &[0]),
    ] {
        assert_eq!(bytes(shape), expect, "{shape}");
    }
    let entry = module("ENTRY e {\n p = f32[4]{0:S(5)} parameter(0)\n ROOT r = f32[] custom-call(p)\n}");
    let facts = &entry.dumped.as_ref().expect("facts").facts;
    assert!(facts.contains(&("bytes of values in host memory, S(5)".to_owned(), "16".to_owned())));
}

#[test]
fn sharded_programs_are_read() {
    let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\nENTRY e {\n a = f32[8]{0} \
                parameter(0), sharding={mesh['d'=2,'m'=4], [{'d'}]}\n ROOT r = f32[8]{0} all-reduce(a), \
                replica_groups=mesh['d'=2,'m'=4] {'m'}, to_apply=add\n}";
    assert_eq!(module(text).graph.ops().len(), 2);
}
