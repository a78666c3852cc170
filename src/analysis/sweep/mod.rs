//! A sweep: every combination of the values of some axes over one configuration.
//!
//! ```text
//! axes   policy 0 2 3 4  x  atomic_clean_policy 0 1  x  batch 8 16 32 64        32 points, each a Configuration
//!        points --explore--> figures --front--> Pareto front --recommend--> winner, runner-up, reasons
//! ```
//!
//! In: a [`Request`](super::Request), whose configuration is the base, and axes. Out: a [`SweepPoint`] per point: the
//! figures that [`compare`](super::compare) gives for its configuration, or why there are none; intermediate results
//! are shared between points. The result does not depend on timing, although points arrive in any order.

mod axis;
mod error;
mod explore;
mod fields;
mod front;
mod goal;
mod memo;
mod nothing_fits;
mod point;
mod reasons;
mod recommend;
mod sentence;
mod store;
mod values;

pub use axis::{AxisOf, SweepAxis};
pub use error::SweepError;
pub use explore::Explorer;
pub use fields::Space;
pub use front::{MAX_ON_A_DEVICE, SmallestDevice, front, front_of, largest_of, smallest_device};
pub use goal::{Goal, GoalError};
pub use point::{Ending, Outcome, PointFigures, SweepPoint};
pub use recommend::{
    Chosen, LeftOut, RECOMMEND_EXHAUSTIVE, Recommendation, RuleCount, Searched, excluded, left_out, recommend,
    recommend_from, refused_by,
};
pub use sentence::{Link, Part, Sentence, WhichChoice};
