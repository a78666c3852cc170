//! The texts that a snapshot is made of, known by number, so that a key is recognised by a comparison of integers.

/// Declares each text once: its number is its position.
macro_rules! known {
    ($($name:ident = $text:literal;)*) => {
        known!(@number 0_u32; $($name)*);
        pub(super) static KNOWN: &[&str] = &[$($text),*];
    };
    (@number $number:expr; $name:ident $($rest:ident)*) => {
        pub(super) const $name: u32 = $number;
        known!(@number $number + 1; $($rest)*);
    };
    (@number $number:expr;) => {};
}

known! {
    ACTION = "action";
    ADDR = "addr";
    SIZE = "size";
    STREAM = "stream";
    TIME_US = "time_us";
    FRAMES = "frames";
    COMPILE_CONTEXT = "compile_context";
    USER_METADATA = "user_metadata";
    FORWARD_FRAMES = "forward_frames";
    FX_NODE_OP = "fx_node_op";
    FX_NODE_NAME = "fx_node_name";
    FX_NODE_TARGET = "fx_node_target";
    FX_ORIGINAL_TRACE = "fx_original_trace";
    DEVICE_FREE = "device_free";
    ALLOC = "alloc";
    FREE_REQUESTED = "free_requested";
    FREE_COMPLETED = "free_completed";
    SEGMENT_ALLOC = "segment_alloc";
    SEGMENT_FREE = "segment_free";
    SEGMENT_MAP = "segment_map";
    SEGMENT_UNMAP = "segment_unmap";
    SNAPSHOT = "snapshot";
    OOM = "oom";
    ADDRESS = "address";
    REQUESTED_SIZE = "requested_size";
    STATE = "state";
    ACTIVE_ALLOCATED = "active_allocated";
    ACTIVE_PENDING_FREE = "active_pending_free";
    ACTIVE_AWAITING_FREE = "active_awaiting_free";
    HISTORY = "history";
    REAL_SIZE = "real_size";
    DEVICE = "device";
    TOTAL_SIZE = "total_size";
    ALLOCATED_SIZE = "allocated_size";
    ACTIVE_SIZE = "active_size";
    SEGMENT_TYPE = "segment_type";
    SEGMENT_POOL_ID = "segment_pool_id";
    POOL_ID = "pool_id";
    IS_EXPANDABLE = "is_expandable";
    BLOCKS = "blocks";
    LARGE = "large";
    SMALL = "small";
    FILENAME = "filename";
    LINE = "line";
    NAME = "name";
    STAGE = "stage";
    START = "START";
    END = "END";
    SEGMENTS = "segments";
    DEVICE_TRACES = "device_traces";
    ALLOCATOR_SETTINGS = "allocator_settings";
    EXTERNAL_ANNOTATIONS = "external_annotations";
    HOST_SEGMENTS = "host_segments";
    HOST_TRACES = "host_traces";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        assert_eq!(KNOWN[ACTION as usize], "action");
        assert_eq!(KNOWN[HOST_TRACES as usize], "host_traces");
        assert_eq!(HOST_TRACES as usize + 1, KNOWN.len());
    }
}
