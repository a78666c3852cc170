//! The pipelines: four that draw rectangles into pictures, and one that puts pictures on the screen.

use eframe::wgpu;

/// Format of both pictures of a lane: premultiplied, as egui's colours.
pub(super) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
/// Sum of the covered share of a pixel.
pub(super) const SHARE: wgpu::TextureFormat = wgpu::TextureFormat::R16Float;
/// Rank of the thing that covers most of a pixel.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Bytes of a row, and of a colour number.
pub(super) const ROW: u64 = 20;
pub(super) const COLOR_NUMBER: u64 = 4;

/// Made once per device.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) lane_layout: wgpu::BindGroupLayout,
    pub(super) screen_layout: wgpu::BindGroupLayout,
    pub(super) hole: wgpu::RenderPipeline,
    pub(super) large: wgpu::RenderPipeline,
    pub(super) small: wgpu::RenderPipeline,
    pub(super) share: wgpu::RenderPipeline,
    pub(super) screen: wgpu::RenderPipeline,
}

/// Differences between pipelines.
struct Draft<'a> {
    name: &'a str,
    vertex: &'a str,
    fragment: &'a str,
    has_colors: bool,
    target: wgpu::ColorTargetState,
    is_ranked: bool,
}

impl Pipelines {
    /// `target` is the format of the screen.
    pub(super) fn new(device: &wgpu::Device, target: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("lanes"),
            source: wgpu::ShaderSource::Wgsl(include_str!("lanes.wgsl").into()),
        });
        let lane_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("lane"),
            entries: &[uniform()],
        });
        let textures = [1, 2, 3].map(texture);
        let entries: Vec<_> = std::iter::once(uniform()).chain(textures).collect();
        let screen_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("lane on the screen"),
            entries: &entries,
        });
        let rectangles = Rectangles {
            device,
            module: &module,
            layout: pipeline_layout(device, &lane_layout),
        };
        let draft = |name, vertex, fragment| Draft {
            name,
            vertex,
            fragment,
            has_colors: true,
            target: COLOR.into(),
            is_ranked: false,
        };
        Self {
            hole: rectangles.pipeline(&Draft {
                has_colors: false,
                ..draft("holes", "vs_hole", "fs_hole")
            }),
            large: rectangles.pipeline(&draft("large blocks", "vs_large", "fs_color")),
            small: rectangles.pipeline(&Draft {
                is_ranked: true,
                ..draft("small blocks", "vs_small", "fs_color")
            }),
            share: rectangles.pipeline(&Draft {
                target: blended(SHARE, wgpu::BlendFactor::One),
                ..draft("shares of pixels", "vs_small", "fs_share")
            }),
            screen: screen(device, &module, &screen_layout, target),
            lane_layout,
            screen_layout,
        }
    }
}

/// Common parts of the pipelines that draw rectangles.
struct Rectangles<'a> {
    device: &'a wgpu::Device,
    module: &'a wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
}

impl Rectangles<'_> {
    fn pipeline(&self, draft: &Draft<'_>) -> wgpu::RenderPipeline {
        let rows = wgpu::VertexBufferLayout {
            array_stride: ROW,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Uint32x4, 1 => Uint32],
        };
        let colors = wgpu::VertexBufferLayout {
            array_stride: COLOR_NUMBER,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![2 => Uint32],
        };
        let mut buffers = vec![Some(rows)];
        buffers.extend(draft.has_colors.then_some(Some(colors)));
        let depth = wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Greater),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(draft.name),
            layout: Some(&self.layout),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some(draft.vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: draft.is_ranked.then_some(depth),
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: self.module,
                entry_point: Some(draft.fragment),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(draft.target.clone())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

fn screen(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    target: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("lanes on the screen"),
        layout: Some(&pipeline_layout(device, layout)),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vs_screen"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some("fs_screen"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(blended(target, wgpu::BlendFactor::OneMinusSrcAlpha))],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn pipeline_layout(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    })
}

/// Adds the source to a share of the target.
fn blended(format: wgpu::TextureFormat, ground: wgpu::BlendFactor) -> wgpu::ColorTargetState {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::One,
        dst_factor: ground,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::ColorTargetState {
        format,
        blend: Some(wgpu::BlendState {
            color: component,
            alpha: component,
        }),
        write_mask: wgpu::ColorWrites::ALL,
    }
}

const fn uniform() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

const fn texture(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        count: None,
    }
}
