//! Calls that change the settings of torch's caching allocator at run time.

use ruff_python_ast::ExprCall;
use ruff_text_size::Ranged as _;

use highwater_options::Value;
use highwater_torch::{COMMON_VARIABLE, Framework, Settings, Version};

use super::datum::{Datum, Fact};
use super::reader::Reader;

/// Functions of `torch.cuda.memory`, `torch._C`, `torch.npu.memory` and `torch_npu._C`.
pub(super) const SETTERS: [&str; 4] = [
    "_set_allocator_settings",
    "_accelerator_setAllocatorSettings",
    "_cuda_cudaCachingAllocator_set_allocator_settings",
    "_npu_npuCachingAllocator_set_allocator_settings",
];

impl<'a> Reader<'a> {
    /// Keys that the call does not reset keep their values.
    pub(super) fn set_allocator(&mut self, call: &'a ExprCall) {
        let Some(text) = call.arguments.find_argument_value("env", 0) else {
            return;
        };
        let path = self.source.slice(call.func.range());
        let path = self.survey.full_name(path);
        let (cuda, npu) = (Framework::Cuda.variable(), Framework::Npu.variable());
        let is_set = |name: &str| self.environment.contains_key(name);
        let is_common = path.contains("accelerator");
        let variable = if path.contains("npu") || is_common && is_set(npu) {
            npu
        } else {
            let names = Version::NEWEST.rules().variables.names();
            let set = names.iter().find(|name| is_set(name));
            set.unwrap_or(if is_common { &COMMON_VARIABLE } else { &cuda })
        };
        let mut fact = self.evaluate(text);
        if let (Datum::Value(Value::Text(new)), Some((before, _))) = (&fact.datum, self.environment.get(variable)) {
            let version = if variable == npu { Version::Npu } else { Version::NEWEST };
            fact = Fact::value(Value::Text(changed(before, new, version)));
        }
        self.bind_variable(variable, &fact, text.range());
    }
}

/// Settings after a change at run time; the new text alone where one of the two is refused.
fn changed(before: &str, new: &str, version: Version) -> String {
    let settings = Settings::parse(before, version).and_then(|mut settings| {
        settings.apply(new)?;
        Ok(settings)
    });
    settings.map_or_else(|_| new.to_owned(), |settings| settings.text())
}
