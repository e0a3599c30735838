// What a chat template may be and may take. It is a program that came with the model file; see native/template.
#pragma once

#include "template-budget.h"

#include <string>

namespace concertina {

// Making sense of a template: upstream renders it some fifty times with a few short messages.
extern const template_budget::Limits loadLimits;

// Rendering the messages of a chat: what is fair grows with them. `bytes`: of the messages.
template_budget::Limits renderLimits(size_t messages, size_t bytes);

// Why this template is not given to the interpreter: it is too long, or nested so deeply that reading it would take the whole
// stack. Empty: it is.
std::string refusedTemplate(const std::string & source);

} // namespace concertina
