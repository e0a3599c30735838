// Metal to C++: what is rewritten, on which line, and how parameters are numbered.

import { describe, expect, it } from 'vitest';
import { rewrite, signaturesOf } from '../../kernels/rewrite.mjs';

const SOURCE = [
  'constant bool FC_mask [[function_constant(FC_BASE + 1)]];',
  'template <typename T, void (*f)(device const T *)>',
  'kernel void kernel_sum( // a comment, with a comma',
  '        constant args_t & args,',
  '        device const T * x [[buffer(2)]],',
  '        device float * y,',
  '        threadgroup half * shared [[threadgroup(0)]],',
  '        uint3 at [[threadgroup_position_in_grid]]) {',
  '    threadgroup float sums[4][32];',
  '    threadgroup float * p = sums[0];',
  '}',
  'template [[host_name("kernel_sum_f32")]] kernel sum_t',
  '    kernel_sum<float, load<float>>;',
  'template [[host_name("kernel_sum_f16")]] kernel sum_t kernel_sum<half, load<half>>;',
  'kernel void kernel_plain(device int * x) {}',
].join('\n');

describe('rewriting', () => {
  it('registers the kernels kept and leaves every line where it was', () => {
    const { text, kernels } = rewrite(SOURCE, { mode: 'exec', keep: /kernel_sum_f32|kernel_plain/ });
    const lines = text.split('\n');
    expect(kernels).toEqual(['kernel_sum_f32', 'kernel_plain']);
    expect(lines[0]).toBe('MSL_FUNCTION_CONSTANT(bool, FC_mask, FC_BASE + 1)');
    expect(lines[8]).toBe('    MSL_THREADGROUP_VARIABLE(float, sums, [4][32]);');
    expect(lines[9]).toBe('    threadgroup float * p = sums[0];');
    expect(lines[11]).toBe('MSL_KERNEL("kernel_sum_f32", "kernel_sum", kernel_sum<float, load<float>>)');
    expect(lines.slice(12, 14)).toEqual(['', '']);
    expect(lines[14]).toBe('kernel void kernel_plain(device int * x) {}');
    expect(text).toContain(
      'MSL_PARAMETERS(kernel_sum, { "buffer", 0 }, { "buffer", 2 }, { "buffer", 1 }, { "threadgroup", 0 }',
    );
  });

  it('instantiates for type checks', () => {
    const { text } = rewrite(SOURCE, { mode: 'check', keep: /kernel_sum_f16/ });
    expect(text.split('\n')[13]).toBe('template sum_t kernel_sum<half, load<half>>;');
    expect(text.split('\n')[1]).toBe('template <typename T, void f(device const T *)>');
    expect(text).not.toContain('MSL_KERNEL');
  });
});

it('signatures number buffers and know positions; an attribute that Metal has not is refused', () => {
  expect(signaturesOf(SOURCE).map(({ name, template }) => [name, template])).toEqual([
    ['kernel_sum', true],
    ['kernel_plain', false],
  ]);
  expect(signaturesOf(SOURCE)[0]?.parameters.at(-1)).toEqual({ role: 'threadgroup_position_in_grid', index: -1 });
  expect(() => signaturesOf('kernel void k(uint i [[thread_id]]) {}')).toThrow('unknown attribute thread_id');
});
