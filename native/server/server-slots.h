// The addon's way to the slots of upstream's server_context (tools/server/server-context.cpp), which keeps them private.
// Included by server-context.cpp (patch server-slots) and by the addon; the bodies are in server-slots.inl.
#pragma once

#include "common.h"
#include "llama.h"

#include <functional>
#include <list>
#include <vector>

struct mtmd_context;
struct server_context;
struct server_context_impl;
struct server_queue;
struct server_slot;
struct server_tokens;

struct server_slots_access {
    // Runs `body` on the thread of the server's loop, between two batches, and waits for it. What `body` throws is thrown
    // here. start_loop() must run, on another thread.
    static void call(server_context & server, const std::function<void()> & body);

    // Inside `body` only. The tokens whose cells the slot holds, in the order of their positions.
    static const server_tokens & tokens(const server_context & server, int id_slot);
    // what sees and hears for the model; nullptr: nothing does
    static mtmd_context * media(const server_context & server);
    // Inside `body` only. No task runs in the slot.
    static bool is_idle(const server_context & server, int id_slot);
    // Inside `body` only. Empties all slots in which no task runs; what they held goes to the prompt cache in RAM, where there is
    // one. Returns one of them, -1: a task runs in each.
    static int clear_idle(server_context & server);
    // Inside `body` only. What the prompt cache in RAM holds.
    static size_t prompt_cache_bytes(const server_context & server);
    // of the model that drafts; nullptr: no model does
    static llama_context * draft(const server_context & server);
    // whether the server can draft tokens at all (speculative decoding)
    static bool can_speculate(const server_context & server);
    // Inside `body` only. Whether tokens are drafted for the slot's answer, also in its midst; upstream switches all slots on.
    // Returns how many tokens of the answer were written before, -1: not now, as a draft is being verified.
    static int64_t speculate(server_context & server, int id_slot, bool on);

    // Inside `body` only. The slot for a task with this prompt: `id_slot` if no task runs in it, else one that is idle, else
    // `id_slot` all the same. Into an empty one comes what the prompt cache in RAM has of the prompt.
    static int prepare(server_context & server, int id_slot, const server_tokens & prompt);
    // Inside `body` only. States of the slot's sequence at former lengths, the shortest first, of what cannot be rolled back
    // (sliding windows, recurrent layers): the next prompt goes on from the longest of which it begins with the tokens.
    static std::list<common_prompt_checkpoint> & checkpoints(server_context & server, int id_slot);
    // Inside `body` only. After the cells of the slot's sequence were written, as by llama_state_seq_load_file, or removed. It
    // has no checkpoints then.
    static void set_tokens(server_context & server, int id_slot, server_tokens tokens);

    // Does `work` on the thread of the loop. `long_work`: a second thread answers questions about the state meanwhile, as in
    // server_queue::yield_to_queue(). Waking it and waiting until it rests again costs more than the next step of an answer is worth
    // to such a question, so short work goes without.
    static void yield(server_queue & queue, bool long_work, std::function<void()> && work);

    // Lets one of the tasks go on that wait for a slot. Upstream does so when an answer leaves its slot, and not when a task ends that
    // took one without answering: saving, restoring and erasing. Any thread.
    static void resume(server_context & server);

    // llama_decode() returned 2: its abort callback said so. The tasks in the batch end with an error, their slots keep the
    // tokens that were evaluated before. Returns true: the batch is done.
    static bool abort(server_context_impl & server);

    // Whether the grammar of the slot's task allows the token that was just sampled; accepting another one would end the process.
    // If not, the task has ended with an error.
    static bool allowed(server_context_impl & server, server_slot & slot);
};
