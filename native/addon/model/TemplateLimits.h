// What a chat template may be and may take. It is a program that came with the model file; see native/template.
#pragma once

#include "template-budget.h"

#include <string>

namespace concertina {

// Making sense of a template: upstream renders it some fifty times with a few short messages.
extern const template_budget::Limits loadLimits;

// Rendering the chat in the body of a request (JSON): what is fair grows with it.
template_budget::Limits renderLimits(const std::string & body);

// Why this template is not given to the interpreter: it is too long, or nested so deeply that reading it would take the whole
// stack. Empty: it is.
std::string refusedTemplate(const std::string & source);

} // namespace concertina
