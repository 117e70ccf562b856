import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Pod } from '@taintmgr/core';
import { explanationNotes, renderNodeExplanation } from '../src/render/node-explanation.ts';
import { printable } from '../src/render/printable.ts';
import { renderTable } from '../src/render/table.ts';
import { engineWith } from '../src/snapshot.ts';
import { node, now, pod, taint, tolerates } from './values.ts';

describe('printable', () => {
  const cases: readonly (readonly [name: string, text: string, expected: string])[] = [
    ['plain text', 'shop/web-0: größer als 5 %', 'shop/web-0: größer als 5 %'],
    ['an escape sequence', '\u001b[31mred', '^[[31mred'],
    ['a line end', 'a\nb\r', 'a^Jb^M'],
    ['delete', '\u007f', '^?'],
    ['the one-byte control sequence introducer', '\u009b2J', '^[2J'],
    ['a right-to-left override', 'a\u202eb', 'a\\u202eb'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => assert.equal(printable(text), expected));
  }
});

describe('renderTable', () => {
  const cases: readonly (readonly [string, string[], string[][], string[]])[] = [
    [
      'aligns columns three spaces apart, without a blank at a line end',
      ['POD', 'IN'],
      [
        ['a-long-name', ''],
        ['b', '5s'],
      ],
      ['POD           IN', 'a-long-name', 'b             5s'],
    ],
    ['has a head without rows', ['POD', 'IN'], [], ['POD   IN']],
    ['counts wide characters as two', ['A', 'B'], [['日本', 'x']], ['A      B', '日本   x']],
    ['disarms escapes and line ends', ['A'], [['\u001b[2J\nx']], ['A', '^[[2J^Jx']],
  ];
  for (const [name, head, rows, expected] of cases) {
    it(name, () => assert.deepEqual(renderTable(head, rows).split('\n'), expected));
  }
});

describe('renderNodeExplanation', () => {
  const explain = (one: Node, ...pods: readonly Pod[]) => {
    const explanation = engineWith(now, [one], pods).explain(now, { kind: 'node', name: one.name });
    assert.ok(explanation?.kind === 'node');
    return explanation;
  };
  const bad = 'bad=disk:NoExecute';
  const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();

  const cases: readonly (readonly [name: string, node: Node, pods: readonly Pod[], string])[] = [
    [
      'a node without a NoExecute taint',
      node('n1', taint('quiet:NoSchedule')),
      [pod('web')],
      `
      Name:     n1
      Taints:   no NoExecute taints

      NAMESPACE   POD   DECISION   IN   BECAUSE
      shop        web   Keep       -    its node has no NoExecute taint

      1 pod: 0 to evict, 1 to keep`,
    ],
    [
      'a node without pods',
      node('n1', taint(bad, 41)),
      [],
      `
      Name:     n1
      Taints:   bad=disk:NoExecute   added 41s ago

      No pods on this node.`,
    ],
    [
      'all decisions, the next to go first',
      node('n1', taint(bad, 41), taint('other.example/loss:NoExecute')),
      [
        pod('static', { mirror: true }),
        pod('forever', tolerates('')),
        pod('soon', tolerates('', 63)),
        pod('going', { deletionTimestamp: now }),
        pod('late'),
        pod('later', tolerates('', 3600)),
      ],
      `
      Name:     n1
      Taints:   bad=disk:NoExecute             added 41s ago
                other.example/loss:NoExecute   added ?

      NAMESPACE   POD       DECISION   IN              BECAUSE
      shop        late      Evict      now, 41s late   no toleration for bad=disk:NoExecute; no toleration for other.example/loss:NoExecute
      shop        soon      Evict      22s             tolerates bad=disk:NoExecute for 1m3s; tolerates other.example/loss:NoExecute for 1m3s
      shop        later     Evict      59m19s          tolerates bad=disk:NoExecute for 1h; tolerates other.example/loss:NoExecute for 1h
      shop        forever   Keep       -               tolerates bad=disk:NoExecute without limit; tolerates other.example/loss:NoExecute without limit
      shop        going     Leaving    -               already terminating
      shop        static    Keep       -               static pod: deleting it through the API does not stop it

      6 pods: 1 leaving, 3 to evict (next now, last in 59m19s), 2 to keep`,
    ],
    [
      'a taint that is new, by a clock ahead of ours',
      node('n1', taint(bad, -0.5)),
      [pod('web')],
      `
      Name:     n1
      Taints:   bad=disk:NoExecute   added 0s ago

      NAMESPACE   POD   DECISION   IN    BECAUSE
      shop        web   Evict      now   no toleration for bad=disk:NoExecute

      1 pod: 1 to evict (now), 0 to keep`,
    ],
  ];
  for (const [name, one, pods, expected] of cases) {
    it(name, () => {
      assert.equal(renderNodeExplanation(explain(one, ...pods), now), lines(expected));
    });
  }

  it('notes which taints do not say since when', () => {
    const both = node('n1', taint(bad, 41), taint('loss:NoExecute'));
    assert.deepEqual(explanationNotes(explain(both), now), [
      'Note: nobody wrote when loss:NoExecute was added; IN counts from now, ' +
        'so a pod may have less time left than it says',
    ]);
  });
});
