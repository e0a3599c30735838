import { expect, test } from 'vitest';
import { readStack } from '../../windows/stack.mjs';

const disassembly = `
0000000000001000 <aligns_first>:
    1000:	push   %rbp
    1004:	and    $0xffffffffffffffe0,%rsp
    1008:	vmovaps %ymm6,0x40(%rsp)

0000000000002000 <trusts_the_stack>:
    2000:	sub    $0x60,%rsp
    2004:	vmovdqa %ymm6,0x20(%rsp)

0000000000003000 <wide_registers>:
    3000:	vmovdqa64 0x40(%rbp),%zmm2

0000000000004000 <unaligned_moves_and_other_memory>:
    4000:	vmovups %ymm6,0x20(%rsp)
    4004:	vmovaps %ymm6,(%rcx)
    4008:	vmovaps %xmm6,0x20(%rsp)
`.split('\n');

test('a function that moves wide registers to a stack that it did not align is found', async () => {
  expect(await readStack(disassembly)).toEqual({
    functions: 4,
    aligned: 1,
    faulty: ['trusts_the_stack', 'wide_registers'],
  });
});
