import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Act, actsOf, linesOf, placeActs } from '../../src/model/acts.ts';

const event = (at: number, text: string, line = 1) => ({ at, text, line });

describe('the acts of a script', () => {
  const gpu = (node: string) => `taint all nodes: health.example/gpu=failed:NoExecute (${node})`;
  for (const [what, events, names] of [
    [
      'something that ends',
      [event(60, 'stop the kubelet of zone zone-b'), event(90, 'start the kubelet of zone zone-b')],
      ['zone-b down 60-90'],
    ],
    ['something that does not', [event(60, 'stop the kubelet of eu/eu-b')], ['eu/eu-b down 60']],
    [
      'a taint that goes from node to node',
      [event(1, gpu('n-1')), event(4, gpu('n-2')), event(9, `un${gpu('n-1')}`)],
      ['taint gpu=failed on all nodes 1-9'],
    ],
    [
      'a restart, and what each act is called',
      [
        event(0, 'set maxUnavailable of budget shop/web to 1', 2),
        event(1, 'the controller is restarted', 3),
        event(6, 'the controller is back', 3),
        event(7, 'cordon n-1, n-2, n-3, n-4', 4),
        event(8, 'drain n-1', 5),
        event(9, 'resume all limits', 6),
      ],
      [
        'budget shop/web: maxUnavailable 1 0',
        'controller restarts 1-6',
        'cordon n-1, n-2, … 7',
        'drain n-1 8',
        'resume all limits 9',
      ],
    ],
    [
      'two lines that do the same',
      [event(1, 'drain n-1', 1), event(2, 'drain n-1', 2)],
      ['drain n-1 1', 'drain n-1 2'],
    ],
    [
      'ends of other acts of the command line, which have one line',
      [
        event(1, 'cut off zone a'),
        event(2, 'drain n-1'),
        event(3, 'end of the drain of n-1'),
        event(9, 'reconnect zone a'),
      ],
      ['zone a cut off 1-9', 'drain n-1 2-3'],
    ],
  ] as const) {
    it(`are ${what}`, () => {
      const shown = actsOf(events).map(({ name, from, until }) => {
        return `${name} ${from}${until === null ? '' : `-${until}`}`;
      });
      assert.deepEqual(shown, names);
    });
  }

  it('say all of it, and have a mark for each event', () => {
    const [act = assert.fail()] = actsOf([event(60, gpu('n-1')), event(63, gpu('n-2'))]);
    assert.equal(
      act.text,
      '0:01:00 – 0:01:03 (3s): taint all nodes: health.example/gpu=failed:NoExecute',
    );
    assert.deepEqual(
      act.marks.map(({ at }) => at),
      [60, 63],
    );
  });
});

describe('the names of acts on an axis of 500 pixels', () => {
  const act = (name: string, from: number, until: number | null = null): Act => {
    return { name, text: name, from, until, marks: [] };
  };
  const place = (...acts: readonly Act[]) =>
    placeActs(acts, {
      ...{ place: (at) => at, width: 500, linesMax: 3 },
      lengthOf: (name) => name.length * 10,
    });
  const shown = (...acts: readonly Act[]) =>
    place(...acts).map(({ act: { name }, name: at }) => [name, at?.left, at?.line]);

  it('begin where their acts begin, in the first line that has room', () => {
    assert.deepEqual(shown(act('aaaaaaaaaa', 0), act('bbb', 50), act('ccc', 120)), [
      ['aaaaaaaaaa', 0, 0],
      ['bbb', 50, 1],
      ['ccc', 120, 0],
    ]);
  });

  it('leave the line to an act as long as it lasts', () => {
    assert.deepEqual(shown(act('aaa', 0, 300), act('bbb', 200)), [
      ['aaa', 0, 0],
      ['bbb', 200, 1],
    ]);
  });

  it('are cut where most of them fits, else end where their acts begin', () => {
    const [long] = place(act('a'.repeat(20), 390));
    assert.deepEqual([long?.name?.left, long?.name?.most], [390, 110]);
    assert.deepEqual(shown(act('bbbbbbbbbb', 480)), [['bbbbbbbbbb', 380, 0]]);
  });

  it('are left out where there is no room, and where nothing is seen of their acts', () => {
    const many = Array.from({ length: 5 }, (_, at) => act(`act-number-${at}`, at * 2));
    const placed = place(...many, act('later', 900), act('before', -90, -10));
    assert.deepEqual(
      placed.map(({ name }) => name !== null),
      [true, true, true, false, false],
    );
    assert.equal(linesOf(placed), 3);
  });

  it('stand at the edge for what began before', () => {
    assert.deepEqual(shown(act('aaa', -100, 200)), [['aaa', 0, 0]]);
  });
});
