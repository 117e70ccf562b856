import { caseIn, noYaml, type WireCase, type WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const noProtobufReply = 'replies are always JSON';

/** Five pods on two nodes, as the list cases found them. */
function fivePods(hand: Hand): void {
  hand.node('wire-l1');
  hand.node('wire-l2', { unschedulable: true });
  for (const [index, letter] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const labels = { app: 'web', tier: index % 2 ? 'odd' : 'even' };
    hand.pod(`pod-${letter}`, index < 2 ? { nodeName: 'wire-l1' } : {}, { labels });
  }
  const podIPs = [{ ip: '10.1.2.3' }];
  hand.podStatus('pod-a', { phase: 'Running', podIP: '10.1.2.3', podIPs });
}

const lists = (without: WireCase['without'] = {}): WireCase =>
  caseIn('wire-list', fivePods, { without });

/** Lists, gets, and watches that are refused. */
export const readCases: WireCases = {
  '02-list/accept': lists({
    2: noYaml,
    3: noYaml,
    4: noProtobufReply,
    5: noProtobufReply,
    6: noYaml,
    7: noYaml,
    9: noYaml,
    12: noYaml,
  }),
  '02-list/empty-list': { namespace: 'wire-list' },
  '02-list/expired': {
    namespace: 'wire-expire',
    prepare: (hand) => {
      for (const letter of ['a', 'b', 'c', 'd', 'e']) hand.pod(`pod-${letter}`);
      return undefined;
    },
    before: {
      1: (hand) => {
        hand.pod('pod-cc');
        hand.client.patch('/api/v1/namespaces/wire-expire/pods/pod-e', {
          metadata: { annotations: { n: '147' } },
        });
        hand.api.compact();
      },
    },
  },
  '02-list/field-selector-errors': lists(),
  '02-list/field-selectors-other': lists(),
  '02-list/field-selectors-pods': lists(),
  '02-list/get-resource-version': lists(),
  '02-list/label-selectors': lists(),
  '02-list/list-envelope': lists(),
  '02-list/not-found': lists(),
  '02-list/paging': {
    ...lists({ 8: 'the token says less of why it is none' }),
    before: {
      1: (hand) => {
        hand.pod('pod-aa', {}, { labels: { app: 'web' } });
        hand.pod('pod-zz');
      },
    },
  },
  '02-list/partial-object-metadata': lists(),
  '02-list/resource-version-errors': lists({ 6: 'this store does not begin at version 1' }),
  '02-list/table': {
    ...lists({ 2: 'the recording leaves the columns out' }),
    before: { 0: ({ clock }) => clock.advanceTo(clock.now() + 9000) },
  },
  '03-watch/bad-params': { namespace: 'wire-watch' },
};
