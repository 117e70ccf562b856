import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import * as door from '../src/index.ts';

it('opens exactly these', () => {
  assert.deepEqual(Object.keys(door).sort(), [
    'ApiClient',
    'ApiError',
    'Backoff',
    'ConnectionError',
    'DeviceSight',
    'EvictorSearch',
    'HistorySearch',
    'HttpTransport',
    'KubeconfigError',
    'Loop',
    'PressureLoop',
    'UpstreamDeviceLoop',
    'UpstreamManager',
    'VirtualDriver',
    'WatchLoop',
    'WrongServerError',
    'actorOf',
    'applyRequest',
    'budgetFromJson',
    'connectionFlags',
    'contradictionText',
    'controllersAnnotation',
    'daemonSetFromJson',
    'decidingKinds',
    'declarationText',
    'declaredIn',
    'declaringFlag',
    'defaultPodWatch',
    'defaultPollOptions',
    'deletePodRequest',
    'describeClock',
    'driftText',
    'drive',
    'duties',
    'evictPodRequest',
    'evictedByOther',
    'exchangeSink',
    'findEvictors',
    'flightApiVersion',
    'flightHeadFrom',
    'flightLine',
    'flightLineFrom',
    'getNodeRequest',
    'giveAnswer',
    'gzip',
    'installedOptions',
    'installedVersion',
    'isHoldingPause',
    'isWatch',
    'kubeconfigNames',
    'lastWriteOf',
    'listRequest',
    'loadKubeconfig',
    'lookForDevices',
    'namespaceFromJson',
    'newEventRequest',
    'nodeFromJson',
    'nodeLeaseFromJson',
    'nodesPath',
    'objectRequest',
    'otherEvictors',
    'ownConditionType',
    'ownTaintKey',
    'pauseRecords',
    'podFromJson',
    'podsPath',
    'policyEvent',
    'pressureNodeFromJson',
    'pressurePodFromJson',
    'readSettings',
    'redactCommand',
    'redactEvent',
    'resumeLimitsRequest',
    'selectsNamespaces',
    'shownUrl',
    'summariesFromKubelets',
    'summaryRequest',
    'switchOff',
    'taintEvictors',
    'taintManagersPath',
    'takeoverDrift',
    'takeoverLabel',
    'takeoverManager',
    'takeoverManifests',
    'takeoverPath',
    'takeoverVersion',
    'typedApi',
    'upstreamLoop',
    'upstreamUserAgent',
    'verdictText',
    'wayToKnow',
    'whyUnknown',
  ]);
});

it('has a doc comment for each name of its doors', () => {
  const src = new URL('../src/', import.meta.url);
  const doors = readdirSync(new URL('doors/', src)).map((file) => `doors/${file}`);
  const undocumented = ['index.ts', ...doors].flatMap((file) => {
    const url = new URL(file, src);
    const exported = readFileSync(url, 'utf8').matchAll(
      /export (?:type )?\{([^}]*)\} from '([^']+)'/g,
    );
    return Array.from(exported).flatMap(([, names = '', from = '']) => {
      const source = readFileSync(new URL(from, url), 'utf8');
      return names
        .split(',')
        .map((name) => name.replace(/^\s*(?:\/\/.*\s+)?(?:type )?|\s+$/g, ''))
        .filter((name) => lacksComment(source, name));
    });
  });
  assert.deepEqual(undocumented, []);
});

/** Tells whether a name is declared here without a word; one that is handed on has its comment elsewhere. */
function lacksComment(source: string, name: string): boolean {
  const declared = `export (?:async )?(?:function\\*?|class|interface|type|const) ${name}\\b`;
  return name !== '' && new RegExp(`(?<!\\*/\\n)^${declared}`, 'm').test(source);
}
