// Bodies of server-slots.h. Included at the end of upstream's server-context.cpp, where the private structs are known.

#include <future>

void server_slots_access::call(server_context & server, const std::function<void()> & body) {
    auto done = std::make_shared<std::promise<void>>();
    auto result = done->get_future();
    server_task task(SERVER_TASK_TYPE_CALL);
    task.call = [&body, done] {
        try {
            body();
            done->set_value();
        } catch (...) { done->set_exception(std::current_exception()); }
    };
    task.id = server.impl->queue_tasks.get_new_id();
    server.impl->queue_tasks.post(std::move(task));
    result.get();
}

const server_tokens & server_slots_access::tokens(const server_context & server, int id_slot) {
    return server.impl->slots.at(id_slot).prompt.tokens;
}

mtmd_context * server_slots_access::media(const server_context & server) { return server.impl->mctx; }

bool server_slots_access::is_idle(const server_context & server, int id_slot) {
    return !server.impl->slots.at(id_slot).is_processing();
}

int server_slots_access::clear_idle(server_context & server) {
    int found = -1;
    for (server_slot & slot : server.impl->slots) {
        if (slot.is_processing()) { continue; }
        if (server.impl->prompt_cache) { slot.prompt_save(*server.impl->prompt_cache); }
        slot.prompt_clear();
        if (found < 0) { found = slot.id; }
    }
    return found;
}

size_t server_slots_access::prompt_cache_bytes(const server_context & server) {
    return server.impl->prompt_cache ? server.impl->prompt_cache->size() : 0;
}

llama_context * server_slots_access::draft(const server_context & server) { return server.impl->ctx_dft; }

bool server_slots_access::can_speculate(const server_context & server) { return server.impl->spec != nullptr; }

int64_t server_slots_access::speculate(server_context & server, int id_slot, bool on) {
    server_slot & slot = server.impl->slots.at(id_slot);
    if (!slot.spec_draft.empty()) { return -1; }
    if (on && !slot.spec && slot.state == SLOT_STATE_GENERATING) {
        common_speculative_begin(server.impl->spec.get(), slot.id, slot.prompt.tokens.get_text_tokens());
    }
    slot.spec = on ? server.impl->spec.get() : nullptr;
    return slot.stats.n_gen;
}

int server_slots_access::prepare(server_context & server, int id_slot, const server_tokens & prompt) {
    auto & slots = server.impl->slots;
    auto slot = slots.begin() + id_slot;
    if (slot->is_processing()) {
        slot = std::find_if(slots.begin(), slots.end(), [](const server_slot & one) { return !one.is_processing(); });
        if (slot == slots.end()) { return id_slot; }
    }
    if (slot->prompt.tokens.empty() && server.impl->prompt_cache) {
        slot->prompt_load(*server.impl->prompt_cache, prompt);
    }
    return slot->id;
}

std::list<common_prompt_checkpoint> & server_slots_access::checkpoints(server_context & server, int id_slot) {
    return server.impl->slots.at(id_slot).prompt.checkpoints;
}

void server_slots_access::set_tokens(server_context & server, int id_slot, server_tokens tokens) {
    server_prompt & prompt = server.impl->slots.at(id_slot).prompt;
    prompt.clear();
    tokens.has_mtmd = prompt.tokens.has_mtmd;
    prompt.tokens = std::move(tokens);
}

void server_slots_access::yield(server_queue & queue, bool long_work, std::function<void()> && work) {
    if (!long_work) { return work(); }
    queue.yield_to_queue(std::move(work));
}

void server_slots_access::resume(server_context & server) { server.impl->queue_tasks.pop_deferred_task(-1); }

bool server_slots_access::abort(server_context_impl & server) {
    const llama_model * model = server.model_tgt;
    const bool whole = llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
    for (server_slot & slot : server.slots) {
        if (!slot.is_processing()) { continue; }
        auto last = llama_memory_seq_pos_max(llama_get_memory(server.ctx_tgt), slot.id);
        // what drafts has not read the batch: the next one goes on behind what both have
        if (server.ctx_dft) {
            last = std::min(last, llama_memory_seq_pos_max(llama_get_memory(server.ctx_dft), slot.id));
        }
        const bool known = !whole && last < slot.prompt.tokens.pos_next();
        if (known) {
            // a picture may have fewer positions than cells
            slot.prompt.tokens.keep_first(last < 0 ? 0 : slot.prompt.tokens.size_up_to_pos(last + 1));
        } else {
            slot.prompt_clear();
        }
        slot.i_batch = -1;
        server.send_error(slot, "aborted");
        slot.release();
    }
    return true;
}

bool server_slots_access::allowed(server_context_impl & server, server_slot & slot) {
    const llama_token_data_array * from = common_sampler_get_candidates(slot.smpl.get(), false);
    if (from->selected < 0 || from->data[from->selected].logit != -INFINITY) { return true; }
    server.send_error(slot, "The grammar allows no further token", ERROR_TYPE_INVALID_REQUEST);
    slot.release();
    return false;
}
