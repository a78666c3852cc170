//! A saved layout: the tree of panes by their names.
//!
//! In: the docked tree, or a text of any version of the program. Out: the other. Unknown panes are left out, a pane
//! that occurs twice keeps its first place, and a missing one gets its place from the table; so every layout has every
//! pane exactly once.

use std::collections::BTreeSet;

use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

use super::Pane;
use super::table::{Home, PANES};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    pub root: Node,
    /// Closed panes by name; each keeps its place.
    #[serde(default)]
    pub closed: Vec<String>,
    /// Those that were closed together.
    #[serde(default)]
    pub aside: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// By name.
    Pane(String),
    /// Parts behind each other.
    Tabs {
        children: Vec<Self>,
        /// Position of the front tab.
        active: usize,
    },
    /// Parts with their shares of the width, left to right.
    Row(Vec<(f32, Self)>),
    /// Parts with their shares of the height, top to bottom.
    Column(Vec<(f32, Self)>),
}

impl Default for Layout {
    fn default() -> Self {
        let tabs = |home: Home| {
            let rows = PANES.iter().filter(|row| row.home == home);
            Node::Tabs {
                children: rows.map(|row| Node::Pane(row.name.to_owned())).collect(),
                active: 0,
            }
        };
        let middle = Node::Column(vec![(0.7, tabs(Home::Middle)), (0.3, tabs(Home::Below))]);
        Self {
            root: Node::Row(vec![
                (0.225, tabs(Home::Left)),
                (0.565, middle),
                (0.21, tabs(Home::Right)),
            ]),
            closed: Vec::new(),
            aside: Vec::new(),
        }
    }
}

impl Layout {
    pub(super) fn of(tree: &Tree<Pane>, aside: &[Pane]) -> Self {
        let root = tree.root().and_then(|root| node_of(&tree.tiles, root));
        let names = |is_named: &dyn Fn(Pane, TileId) -> bool| {
            let rows = PANES.iter().filter(|row| {
                let tile = tree.tiles.find_pane(&row.pane);
                tile.is_some_and(|tile| is_named(row.pane, tile))
            });
            rows.map(|row| row.name.to_owned()).collect()
        };
        Self {
            root: root.unwrap_or_else(|| Self::default().root),
            closed: names(&|_, tile| !tree.tiles.is_visible(tile)),
            aside: names(&|pane, _| aside.contains(&pane)),
        }
    }

    /// The tree, and the panes that were closed together.
    pub(super) fn tree(&self) -> (Tree<Pane>, Vec<Pane>) {
        let mut tiles = Tiles::default();
        let mut seen = BTreeSet::new();
        let root = insert(&self.root, &mut tiles, &mut seen);
        let missing: Vec<Pane> = PANES
            .iter()
            .filter(|row| !seen.contains(row.name))
            .map(|row| row.pane)
            .collect();
        let Some(root) = root else {
            // Nothing is known: the table places all panes.
            let usual = insert(&Self::default().root, &mut tiles, &mut BTreeSet::new());
            let root = usual.unwrap_or_else(|| tiles.insert_tab_tile(Vec::new()));
            return (Tree::new(egui::Id::unique("panes"), root, tiles), Vec::new());
        };
        let root = missing.into_iter().fold(root, |root, pane| add(pane, root, &mut tiles));
        let pane = |name: &String| Pane::named(name);
        for closed in self.closed.iter().filter_map(pane) {
            if let Some(tile) = tiles.find_pane(&closed) {
                tiles.set_visible(tile, false);
            }
        }
        let aside = self.aside.iter().filter(|name| self.closed.contains(name));
        let aside = aside.filter_map(pane).collect();
        (Tree::new(egui::Id::unique("panes"), root, tiles), aside)
    }
}

fn node_of(tiles: &Tiles<Pane>, tile: TileId) -> Option<Node> {
    let container = match tiles.get(tile)? {
        Tile::Pane(pane) => return Some(Node::Pane(pane.row().name.to_owned())),
        Tile::Container(container) => container,
    };
    let children = || container.children().filter_map(|child| node_of(tiles, *child));
    Some(match container {
        Container::Tabs(tabs) => Node::Tabs {
            active: (tabs.active)
                .and_then(|active| tabs.children.iter().position(|child| *child == active))
                .unwrap_or(0),
            children: children().collect(),
        },
        Container::Linear(linear) => {
            let sizes = linear.children.iter().map(|child| linear.shares[*child]);
            let shared = sizes.zip(children()).collect();
            match linear.dir {
                LinearDir::Horizontal => Node::Row(shared),
                LinearDir::Vertical => Node::Column(shared),
            }
        }
        Container::Grid(_) => Node::Row(children().map(|child| (1.0, child)).collect()),
    })
}

/// A part of the tree; `None` where it has no known pane.
fn insert<'a>(node: &'a Node, tiles: &mut Tiles<Pane>, seen: &mut BTreeSet<&'a str>) -> Option<TileId> {
    match node {
        Node::Pane(name) => {
            let pane = Pane::named(name)?;
            seen.insert(name).then(|| tiles.insert_pane(pane))
        }
        Node::Tabs { children, active } => {
            let mut in_front = None;
            let mut container = Tabs::default();
            for (position, child) in children.iter().enumerate() {
                let Some(tile) = insert(child, tiles, seen) else {
                    continue;
                };
                container.add_child(tile);
                if position == *active {
                    in_front = Some(tile);
                }
            }
            container.active = in_front.or_else(|| container.children.first().copied());
            let is_some = !container.children.is_empty();
            is_some.then(|| tiles.insert_container(Container::Tabs(container)))
        }
        Node::Row(children) => insert_linear(LinearDir::Horizontal, children, tiles, seen),
        Node::Column(children) => insert_linear(LinearDir::Vertical, children, tiles, seen),
    }
}

fn insert_linear<'a>(
    dir: LinearDir,
    children: &'a [(f32, Node)],
    tiles: &mut Tiles<Pane>,
    seen: &mut BTreeSet<&'a str>,
) -> Option<TileId> {
    let mut linear = Linear::new(dir, Vec::new());
    for (share, child) in children {
        if let Some(tile) = insert(child, tiles, seen) {
            let is_usable = share.is_finite() && *share > 0.0;
            linear.children.push(tile);
            linear
                .shares
                .set_share(tile, if is_usable { share.clamp(0.01, 100.0) } else { 1.0 });
        }
    }
    let is_some = !linear.children.is_empty();
    is_some.then(|| tiles.insert_container(Container::Linear(linear)))
}

/// Places a pane that the layout lacks: after those of its home, else after the others. Returns the root.
fn add(pane: Pane, root: TileId, tiles: &mut Tiles<Pane>) -> TileId {
    let added = tiles.insert_pane(pane);
    let neighbours = PANES
        .iter()
        .filter(|row| row.home == pane.row().home && row.pane != pane);
    let everyone = PANES.iter().filter(|row| row.pane != pane);
    for row in neighbours.chain(everyone) {
        let parent = tiles.find_pane(&row.pane).and_then(|tile| tiles.parent_of(tile));
        let Some(parent) = parent else { continue };
        if let Some(Tile::Container(Container::Tabs(tabs))) = tiles.get_mut(parent) {
            tabs.add_child(added);
            return root;
        }
    }
    tiles.insert_tab_tile(vec![root, added])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Layout, Node};
    use crate::panes::table::PANES;

    fn names(node: &Node, into: &mut Vec<String>) {
        match node {
            Node::Pane(name) => into.push(name.clone()),
            Node::Tabs { children, .. } => children.iter().for_each(|child| names(child, into)),
            Node::Row(children) | Node::Column(children) => children.iter().for_each(|(_, child)| names(child, into)),
        }
    }

    #[test]
    fn every_layout_has_every_pane_once() {
        let pane = |name: &str| Node::Pane(name.to_owned());
        let tabs = |children: Vec<Node>, active: usize| Node::Tabs { children, active };
        let cases = [
            Layout::default().root,
            pane("inspector"),
            pane("of another version"),
            tabs(Vec::new(), 7),
            tabs(vec![pane("device"), pane("device"), pane("older")], 9),
            Node::Row(vec![(f32::NAN, pane("lanes")), (-1.0, Node::Column(Vec::new()))]),
            Node::Column(vec![
                (0.0, tabs(vec![Node::Row(vec![(1.0, pane("files"))])], 0)),
                (1e30, pane("x")),
            ]),
        ];
        for root in cases {
            let layout = Layout {
                root,
                closed: vec!["planner".to_owned(), "of another version".to_owned()],
                aside: vec!["planner".to_owned(), "device".to_owned()],
            };
            let (tree, aside) = layout.tree();
            let known = Layout::of(&tree, &aside);
            let mut found = Vec::new();
            names(&known.root, &mut found);
            assert_eq!(found.len(), PANES.len(), "{layout:?}");
            assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), PANES.len(), "{layout:?}");
            let (again, aside) = known.tree();
            assert_eq!(Layout::of(&again, &aside), known);
        }
    }

    #[test]
    fn a_layout_is_the_same_after_it_was_stored() {
        let layout = Layout {
            closed: vec!["planner".to_owned(), "device".to_owned()],
            aside: vec!["device".to_owned()],
            ..Layout::default()
        };
        let text = serde_json::to_string(&layout).expect("it is read");
        let read: Layout = serde_json::from_str(&text).expect("it is read");
        let (tree, aside) = read.tree();
        assert_eq!(Layout::of(&tree, &aside), layout);
    }
}
