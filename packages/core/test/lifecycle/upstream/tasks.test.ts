import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LifecycleCommand } from '../../../src/lifecycle/node-command.ts';
import { call, sleep, type Task, Tasks, together } from '../../../src/lifecycle/upstream/tasks.ts';

const node = { name: 'n1', uid: 'u1' };
const label = (id: string): LifecycleCommand => ({ kind: 'setNodeLabels', id, node, labels: {} });

it('goes on when the answer, the time and the other tasks have come', () => {
  const said: string[] = [];
  const tasks = new Tasks();
  const part = function* (name: string, ms: number): Task {
    yield* sleep(ms);
    said.push(name);
  };
  tasks.start(
    (function* (): Task {
      const { kind } = yield* call(label);
      said.push(kind);
      yield* together([part('slow', 200), part('quick', 100)]);
      said.push('both');
    })(),
    () => said.push('end'),
  );
  const [command] = tasks.run(0);
  assert.ok(command && 'id' in command);
  assert.deepEqual([said, tasks.isReady, tasks.nextWake()], [[], false, null]);
  tasks.settle('a stranger', { kind: 'gone' });
  tasks.settle(command.id, { kind: 'done' });
  assert.ok(tasks.isReady);
  for (const now of [0, 100, 200]) assert.deepEqual([...tasks.run(now)], []);
  assert.deepEqual(said, ['done', 'quick', 'slow', 'both', 'end']);
});
