// Between JavaScript values and the structs of the engine. Values come from our own binding (electron/engine/native), which is typed:
// what is checked here is what could crash.
#pragma once

#include "context/Calibration.h"
#include "context/Context.h"
#include "generation/Generation.h"
#include "machine/Capabilities.h"
#include "machine/Probe.h"
#include "measure/Evaluate.h"
#include "model/Inspect.h"

#include <napi.h>

#include <string>
#include <vector>

namespace concertina {

std::string readText(const Napi::Value & value, const char * name);
int readInteger(const Napi::Value & value, const char * name);
std::vector<std::string> readTexts(const Napi::Value & value, const char * name);
std::vector<llama_token> readTokens(const Napi::Value & value);
// milliseconds since 1970; undefined: now
TimePoint readTime(const Napi::Value & value);
std::vector<ChatMessage> readMessages(const Napi::Value & value);
// left out: nothing
AnswerSoFar readSoFar(const Napi::Value & value);
ContextOptions readContextOptions(const Napi::Value & value);
CalibrationOptions readCalibrationOptions(const Napi::Value & value);
std::vector<uint8_t> readBytes(const Napi::Value & value, const char * name);
// without its context
EvaluateRequest readFileEvaluation(const Napi::Value & tokens, const Napi::Value & options);
// prompt: chat messages or an Int32Array
GenerateRequest readGenerateRequest(const Napi::Value & prompt, const Napi::Value & options);

Napi::Value bytesToJs(Napi::Env env, const std::vector<uint8_t> & bytes);
Napi::Value tokensToJs(Napi::Env env, const std::vector<llama_token> & tokens);
Napi::Value toJs(Napi::Env env, const Capabilities & value);
Napi::Value toJs(Napi::Env env, const std::vector<Bandwidth> & value);
Napi::Value toJs(Napi::Env env, const ModelInfo & value);
Napi::Value toJs(Napi::Env env, const EffectiveContext & value);
Napi::Value toJs(Napi::Env env, const PartBytes & value);
Napi::Value toJs(Napi::Env env, const std::vector<DeviceUse> & value);
Napi::Value toJs(Napi::Env env, const std::vector<DeviceMemory> & value);
Napi::Value toJs(Napi::Env env, const MemoryEstimate & value);
Napi::Value toJs(Napi::Env env, const Evaluation & value);
// the reference's own evaluation is the last one
Napi::Value comparisonToJs(Napi::Env env, const std::vector<Evaluation> & values);
Napi::Value toJs(Napi::Env env, const PrefillProgress & value);
Napi::Value toJs(Napi::Env env, const GenerateChunk & value);
Napi::Value toJs(Napi::Env env, const UpstreamTimings & value);
Napi::Value toJs(Napi::Env env, const GenerateResult & value);

} // namespace concertina
