import { caseIn, cut, noYaml, type WireCase, type WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const diff = 'the difference is shown by member, not in the lines of a Go printer';

const writes = (prepare?: (hand: Hand) => void, rest: Partial<WireCase> = {}): WireCase =>
  caseIn('wire-writes', prepare, rest);

/** Creation, updates, the four kinds of patches, validation. */
export const writeCases: WireCases = {
  '04-writes/binding': writes((hand) => {
    hand.node('wire-n4');
    hand.pod('bind-1');
  }),
  '04-writes/create-errors': writes((hand) => void hand.pod('dup')),
  '04-writes/create-node': writes(),
  '04-writes/create-pod': writes(),
  '04-writes/dry-run': writes((hand) => void hand.pod('dup')),
  '04-writes/generate-name': writes(),
  '04-writes/namespace': writes(),
  '04-writes/patch-json': writes(
    (hand) => {
      hand.node('wire-n1');
      const taints = [{ key: 'a', effect: 'NoExecute' }];
      hand.patchNode('wire-n1', { metadata: { labels: { step: '3' } }, spec: { taints } });
    },
    { without: { 4: 'a bug of the real server: replace of a missing member adds it' } },
  ),
  '04-writes/patch-merge': writes((hand) => {
    hand.node('wire-n1');
    const labels = { step: '3', 'a/b': 'x' };
    hand.patchNode('wire-n1', { metadata: { labels }, spec: { taints: null } });
  }),
  '04-writes/patch-strategic-conditions': {
    namespace: 'wire-writes',
    prepare: (hand) => {
      hand.node('wire-n4');
      hand.patchNode('wire-n4', { spec: { taints: [{ key: 'dup', effect: 'NoExecute' }] } });
      return { '<uid-2>': hand.pod('cond', { nodeName: 'wire-n4' }) };
    },
  },
  '04-writes/patch-strategic-taints': writes((hand) => void hand.node('wire-n4'), {
    without: { 6: 'a directive without a list is passed over' },
  }),
  '04-writes/patch-types': writes((hand) => void hand.node('wire-n4'), {
    without: { 7: noYaml },
  }),
  '04-writes/pod-update-allowed': writes(
    (hand) => {
      const mine = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
      hand.pod('upd', { nodeName: 'wire-n4', tolerations: [mine] });
    },
    { without: { 9: diff, 10: diff, 14: diff } },
  ),
  '04-writes/pod-validation': writes(),
  '04-writes/server-side-apply': writes(),
  '04-writes/update-put': {
    namespace: 'wire-writes',
    prepare: (hand) => {
      const uid = hand.node('wire-n1');
      const rv = hand.api.get('nodes', '', 'wire-n1')?.metadata.resourceVersion ?? '';
      return { '<uid-1>': uid, '<rv-1>': rv };
    },
  },
  '04-writes/validation-node': writes((hand) => void hand.node('wire-n4'), {
    without: { 5: cut, 8: 'the real server lists labels in random order' },
  }),
  '04-writes/validation-pod-tolerations': writes(),
};
