/** What `npm run test:packages` and `npm run check` judge by. */
import { expect, test } from 'vitest';
import { differences } from '../packages/bareRoot.mjs';
import { createLinter, workflowErrors } from '../workflows.mjs';

test('what a package left is what is new, gone or changed', () => {
  const before = new Map([
    ['etc/a', '1'],
    ['etc/b', '1'],
    ['etc/c', '1'],
  ]);
  const after = new Map([
    ['etc/a', '1'],
    ['etc/b', '2'],
    ['etc/d', '1'],
  ]);
  expect(differences(before, after)).toEqual(['gone: etc/c', 'changed: etc/b', 'new: etc/d']);
  expect(differences(before, before)).toEqual([]);
});

const workflow = (job: string) => `on: push\njobs:\n  one:\n${job}`;

test('a workflow with a mistake is found, and what GitHub has had since the linter was made is none', async () => {
  const lint = await createLinter();
  const errors = (job: string) => workflowErrors(lint, workflow(job), 'a.yml');
  const steps = '    steps:\n      - run: echo';
  expect(errors(`    runs-on: macos-15\n    permissions:\n      attestations: write\n${steps}`)).toEqual([]);
  expect(errors(`    runs-on: macos-99\n${steps}`).join()).toContain('macos-99');
  expect(errors(`    runs-on: ubuntu-latest\n${steps} \${{ matrix.os }}`).join()).toContain(
    'property "os" is not defined',
  );
});
