// Planted mistakes in what metal/kernels do with a window of recent cells; see mutants.mjs.

const WINDOW = {
  module: 'turbo',
  seenBy: 'cases',
  cases: 'attention, any math: a window',
  keep: /kernel_turbo_attention_(dk128_dv128_q4|merge)/,
};
/** Every step of a layer, on the stand-in for ggml's Metal backend. */
const LAYER = {
  module: 'turbo',
  seenBy: 'cases',
  cases: 'mac host: a window of recent cells',
  keep: /kernel_turbo_(attention_(dk128_dv128_q\d+|merge)|set_rows_.*|copy_to_.*)/,
};
const SELF_TEST = { ...WINDOW, cases: 'self-test of one kernel' };

const WRONG_VALUES = /error .* of its variance: turbo/;
const WRONG_STEP = /relative_mse\(wanted, held\)/;

/** @type {import('./mutants.mjs').Mutant[]} */
export const RECENT = [
  {
    ...WINDOW,
    why: 'K of the window left out',
    find: 'k_held = slot >= 0 && turbo_is_turbo(FC_turbo_type_k);',
    replace: 'k_held = false;',
    as: WRONG_VALUES,
  },
  {
    ...WINDOW,
    why: 'V of the window left out',
    find: 'v_held = slot >= 0 && turbo_is_turbo(FC_turbo_type_v);',
    replace: 'v_held = false;',
    as: WRONG_VALUES,
  },
  {
    ...WINDOW,
    why: 'the first slot for tiles that are not held',
    find: 'k_held = slot >= 0 &&',
    replace: 'k_held = slot >= -1 &&',
    as: WRONG_VALUES,
  },
  {
    ...WINDOW,
    why: 'K of the window read as V',
    find: 'v0 = held + args.recent_v + head_kv*',
    replace: 'v0 = held + head_kv*',
    as: WRONG_VALUES,
  },
  {
    ...WINDOW,
    why: 'the first head of the window for all',
    find: 'k0 = held + head_kv*',
    replace: 'k0 = held + 0*',
    as: WRONG_VALUES,
  },
  {
    ...WINDOW,
    why: 'values of the window in an order of their own',
    find: 'qs[order::at(lane, i)%TURBO_Q8_BLOCK]',
    replace: 'qs[(4*lane + i)%TURBO_Q8_BLOCK]',
    as: WRONG_VALUES,
  },
  {
    ...SELF_TEST,
    why: 'the self-test sees a window that is not read',
    find: 'v_held = slot >= 0 && turbo_is_turbo(FC_turbo_type_v);',
    replace: 'v_held = false;',
    as: /q4 \w+"\) is "K .*a window of recent cells.*squared error/,
  },
  {
    ...LAYER,
    why: 'a window that is not stored',
    find: 'if (place >= 0) {',
    replace: 'if (place < -1) {',
    as: WRONG_STEP,
  },
  {
    ...LAYER,
    why: 'a window stored at the place of the cell',
    find: '(recent + place*args.recent_nb_row)',
    replace: '(recent + g.i01*args.recent_nb_row)',
    as: WRONG_STEP,
  },
  {
    ...LAYER,
    why: 'a prompt that does not read the window',
    find: 'slot = slots[g.i01/TURBO_METAL_POSITIONS];',
    replace: 'slot = -1;',
    as: /expansion_errors/,
  },
  {
    ...LAYER,
    why: 'a prompt that reads the window of the first head',
    find: '+ g.i02*args.recent_nb_head +',
    replace: '+',
    as: /expansion_errors/,
  },
];
