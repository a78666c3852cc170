//! Settings of the caching allocators of PyTorch and `torch_npu`.

use super::{Case, Texts, case};

const fn cuda(conf: Texts, fires: &'static str) -> Case {
    case(&[], fires).with(conf)
}

pub(super) const CASES: &[Case] = &[
    cuda(&[("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")], ""),
    cuda(&[("PYTORCH_ALLOC_CONF", "max_split_size_mb:64")], ""),
    cuda(&[("PYTORCH_NPU_ALLOC_CONF", "base_addr_aligned_kb:0")], ""),
    // Refused: values, keys, and a pair that torch_npu alone refuses.
    cuda(&[("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:19")], "K9E"),
    cuda(&[("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb=512")], "K9E"),
    cuda(&[("PYTORCH_ALLOC_CONF", "expandable_segments:true")], "K9E"),
    cuda(&[("PYTORCH_CUDA_ALLOC_CONF", "page_size:1g")], "K9E"),
    cuda(&[("PYTORCH_NPU_ALLOC_CONF", "backend:native")], "K9E"),
    cuda(
        &[(
            "PYTORCH_NPU_ALLOC_CONF",
            "expandable_segments:True,max_split_size_mb:256",
        )],
        "K9E",
    ),
    // Two variables.
    cuda(
        &[
            ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"),
            ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
        ],
        "K9E",
    ),
    cuda(
        &[
            ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            ("PYTORCH_ALLOC_CONF", "expandable_segments:False"),
        ],
        "K9W",
    ),
    // Nothing is lost: the same text, or none.
    cuda(
        &[
            ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            ("PYTORCH_HIP_ALLOC_CONF", ""),
            ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
        ],
        "",
    ),
    cuda(
        &[
            ("PYTORCH_HIP_ALLOC_CONF", "max_split_size_mb:256"),
            ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
        ],
        "K9W",
    ),
    // What is not read is not judged; a variable that is set to nothing hides the others.
    cuda(
        &[
            ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:256"),
            ("PYTORCH_ALLOC_CONF", "no_such_key:1"),
        ],
        "K9W",
    ),
    cuda(
        &[
            ("PYTORCH_CUDA_ALLOC_CONF", ""),
            ("PYTORCH_ALLOC_CONF", "max_split_size_mb:1"),
        ],
        "K9W",
    ),
    cuda(&[("PYTORCH_HIP_ALLOC_CONF", "expandable_segments:Tru")], "K9E"),
    // Each framework reads its own.
    cuda(
        &[
            ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:Tru"),
        ],
        "K9E",
    ),
    // Accepted, with an effect to know about.
    cuda(
        &[(
            "PYTORCH_CUDA_ALLOC_CONF",
            "expandable_segments:True,max_split_size_mb:256",
        )],
        "K10W",
    ),
    cuda(
        &[("PYTORCH_CUDA_ALLOC_CONF", "garbage_collection_threshold:0.8")],
        "K10I",
    ),
    cuda(&[("PYTORCH_CUDA_ALLOC_CONF", "large_segment_size_mb:64")], "K10I"),
    cuda(
        &[("PYTORCH_CUDA_ALLOC_CONF", "pinned_use_background_threads:True")],
        "K10I",
    ),
    cuda(&[("PYTORCH_NPU_ALLOC_CONF", "page_size:1g,segment_size_mb:64")], "K10I"),
];
