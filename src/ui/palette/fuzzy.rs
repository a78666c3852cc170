//! Fuzzy matching: letters in their order within a text, and their score.
//!
//! In: the typed letters and a name. Out: `None` where the name lacks the letters in this order, else the best score
//! with positions. Case and blanks do not matter. O(typed x name).

/// Score of a letter.
const FOUND: i32 = 1;
/// Score of a letter at the start of a word.
const WORD: i32 = 8;
/// Score of a letter right after the one before.
const BESIDE: i32 = 6;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Higher is better.
    pub score: i32,
    /// Positions among the characters of the text, ascending.
    pub places: Vec<usize>,
}

/// The best match of `typed` in a text; of equal ones the first found from the end.
pub fn find(typed: &str, text: &str) -> Option<Match> {
    let wanted: Vec<char> = typed.chars().filter(|c| !c.is_whitespace()).map(lower).collect();
    let letters: Vec<char> = text.chars().collect();
    if wanted.is_empty() {
        return Some(Match::default());
    }
    // By typed letter: by position of its last letter, the best score and the position of the letter before.
    let mut table: Vec<Vec<Option<(i32, usize)>>> = Vec::with_capacity(wanted.len());
    for (row, letter) in wanted.iter().enumerate() {
        let mut scores = vec![None; letters.len()];
        let mut best_before: Option<(i32, usize)> = None;
        for (place, known) in letters.iter().enumerate() {
            let above = row.checked_sub(1).map(|above| &table[above]);
            // The best score that ends at least two places before.
            if let Some((score, at)) = place.checked_sub(2).and_then(|at| Some((above?[at]?.0, at)))
                && best_before.is_none_or(|(best, _)| score > best)
            {
                best_before = Some((score, at));
            }
            if lower(*known) != *letter {
                continue;
            }
            let own = FOUND + if starts_word(&letters, place) { WORD } else { 0 };
            scores[place] = match above {
                None => Some((own, place)),
                Some(above) => {
                    let beside = place.checked_sub(1).and_then(|at| Some((above[at]?.0 + BESIDE, at)));
                    let best = match (beside, best_before) {
                        (Some(beside), Some(before)) if before.0 > beside.0 => Some(before),
                        (Some(beside), _) => Some(beside),
                        (None, before) => before,
                    };
                    best.map(|(score, at)| (score + own, at))
                }
            };
        }
        table.push(scores);
    }
    trace(&table)
}

/// The positions of the best match, from the last letter back.
fn trace(table: &[Vec<Option<(i32, usize)>>]) -> Option<Match> {
    let ends = table.last()?.iter().enumerate();
    let ends = ends.filter_map(|(place, cell)| cell.map(|(score, _)| (score, place)));
    // The first of equal ones.
    let (score, mut place) = ends.max_by_key(|(score, place)| (*score, std::cmp::Reverse(*place)))?;
    let mut places = Vec::with_capacity(table.len());
    for row in table.iter().rev() {
        places.push(place);
        place = row[place]?.1;
    }
    places.reverse();
    Some(Match { score, places })
}

/// Whether a letter of the match neither starts a word nor follows the one before.
pub fn is_scattered(found: &Match, text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let before = std::iter::once(None).chain(found.places.iter().map(|place| Some(*place)));
    let mut places = found.places.iter().zip(before);
    places.any(|(place, before)| before.is_none_or(|before| before + 1 != *place) && !starts_word(&letters, *place))
}

fn starts_word(letters: &[char], place: usize) -> bool {
    let Some(before) = place.checked_sub(1).map(|at| letters[at]) else {
        return true;
    };
    let own = letters[place];
    own.is_alphanumeric() && (!before.is_alphanumeric() || before.is_lowercase() && own.is_uppercase())
}

fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BESIDE, FOUND, WORD, find, lower, starts_word};

    /// Enumerates all matches.
    fn naive(typed: &[char], letters: &[char], from: usize, last: Option<usize>) -> Option<i32> {
        let Some((first, rest)) = typed.split_first() else {
            return Some(0);
        };
        let places = (from..letters.len()).filter(|place| lower(letters[*place]) == lower(*first));
        let scores = places.filter_map(|place| {
            let word = if starts_word(letters, place) { WORD } else { 0 };
            let beside = if last.is_some_and(|last| last + 1 == place) {
                BESIDE
            } else {
                0
            };
            Some(FOUND + word + beside + naive(rest, letters, place + 1, Some(place))?)
        });
        scores.max()
    }

    proptest! {
        #[test]
        fn the_best_way_is_found(typed in "[abA_ ]{0,4}", text in "[abAB_ .]{0,9}") {
            let letters: Vec<char> = text.chars().collect();
            let wanted: Vec<char> = typed.chars().filter(|c| !c.is_whitespace()).collect();
            let best = find(&typed, &text);
            prop_assert_eq!(best.as_ref().map(|best| best.score), naive(&wanted, &letters, 0, None));
            if let Some(best) = best {
                prop_assert_eq!(best.places.len(), wanted.len());
                prop_assert!(best.places.is_sorted_by(|a, b| a < b));
                for (place, letter) in best.places.iter().zip(&wanted) {
                    prop_assert_eq!(lower(letters[*place]), lower(*letter));
                }
            }
        }
    }

    #[test]
    fn words_stand_before_letters_within_them() {
        let score = |typed, text| find(typed, text).map(|found| found.score);
        assert!(score("rl", "Reset layout") > score("rl", "Larger"));
        assert!(score("undo", "Undo") > score("undo", "Sound no dog"));
        assert_eq!(score("zzz", "Undo"), None);
        let cases = [
            ("smp", "static_memory_policy", false),
            ("memo", "max_memory", false),
            ("theme", "the_memory", false),
            ("hey", "the_memory", true),
        ];
        for (typed, text, expected) in cases {
            let found = find(typed, text).expect("it is found");
            assert_eq!(super::is_scattered(&found, text), expected, "{typed}");
        }
        assert_eq!(
            find("SMP", "static_memory_policy").expect("it is found").places,
            [0, 7, 14]
        );
    }
}
