// The check of admission webhooks that are asked about evictions.
import type { Connection } from '../../cli/connection.ts';
import { readInterceptions } from '../../cluster/interceptions.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { Survey } from '../../cluster/survey.ts';
import { count } from '../../render/count.ts';
import { type Finding, findingsOf, orWell } from './finding.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const kinds = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] as const;

interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}

interface Webhook {
  readonly name: string;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly clientConfig?: {
    readonly service?: { readonly namespace: string; readonly name: string };
  };
}

interface Configuration {
  readonly metadata: { readonly name: string };
  readonly webhooks?: readonly Webhook[];
}

/** Webhooks that may keep evictions for themselves, whether they are there, and the pods that they keep. */
export async function checkWebhooks(
  { pods }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const finding = findingsOf('webhooks');
  const reader = new ClusterReader(client);
  const read = (kind: string): Promise<readonly unknown[] | null> =>
    reader.ifAllowed(async () => (await reader.objectsIfServed(`${group}/${kind}`)) ?? []);
  const [intercepted, ...lists] = await Promise.all([
    readInterceptions(reader),
    ...kinds.map(read),
  ]);
  const findings: Finding[] = [];
  for (const configuration of lists.flatMap((list) => (list ?? []) as readonly Configuration[])) {
    for (const webhook of (configuration.webhooks ?? []).filter(isAskedAboutEvictions)) {
      const about = `webhook/${webhook.name}`;
      findings.push(
        (await isThere(reader, webhook))
          ? finding('INFO', askedText(webhook, configuration), { about })
          : finding(...missing(webhook, configuration, about)),
      );
    }
  }
  const names = new Map((pods ?? []).map(({ pod }) => [pod.uid, pod] as const));
  for (const [uid, said] of intercepted) {
    const pod = names.get(uid);
    if (!pod || pod.deletionTimestamp !== null) continue;
    const about = `pod/${pod.name} -n ${pod.namespace}`;
    findings.push(finding('INFO', `somebody else may move it: ${said}`, { about }));
  }
  if (lists.includes(null)) {
    findings.push(finding('INFO', 'no permission to list admission webhooks'));
  }
  return orWell(finding, findings, 'no admission webhook is asked about evictions');
}

function isAskedAboutEvictions({ rules = [] }: Webhook): boolean {
  const has = (texts: readonly string[] = [], ...wanted: readonly string[]): boolean =>
    wanted.some((text) => texts.includes(text));
  return rules.some(
    ({ operations, apiGroups, resources }) =>
      has(operations, '*', 'CREATE') &&
      has(apiGroups, '*', '') &&
      has(resources, 'pods/eviction', 'pods/*', '*/eviction', '*/*'),
  );
}

/** Whether its Service exists; true for one at a URL, and where we may not see Services. */
async function isThere(reader: ClusterReader, { clientConfig }: Webhook): Promise<boolean> {
  const { service } = clientConfig ?? {};
  return !service || (await reader.hasService(service.namespace, service.name));
}

function askedText(webhook: Webhook, { metadata }: Configuration): string {
  const { failurePolicy = 'Fail', timeoutSeconds = 10 } = webhook;
  const failing =
    failurePolicy === 'Fail'
      ? `without an answer within ${count(timeoutSeconds, 'second')} they fail`
      : `without an answer within ${count(timeoutSeconds, 'second')} they go on`;
  return `is asked about evictions (${metadata.name}): whoever runs it moves the pods that it keeps; ${failing}`;
}

function missing(
  { failurePolicy = 'Fail', clientConfig }: Webhook,
  { metadata }: Configuration,
  about: string,
): readonly ['FAIL' | 'WARN', string, { readonly about: string; readonly fix: string }] {
  const { namespace = '', name = '' } = clientConfig?.service ?? {};
  const gone = `its Service ${namespace}/${name} does not exist`;
  const fix = `bring the Service back, or delete ${metadata.name}`;
  return failurePolicy === 'Fail'
    ? ['FAIL', `${gone}: evictions that it is asked about fail`, { about, fix }]
    : ['WARN', `${gone}: it is not asked about evictions`, { about, fix }];
}
