import type { KubeObject } from '../objects/kube-object.ts';

/** The fields that field selectors can read, always as text. */
export type FieldLabels = Readonly<Record<string, (object: KubeObject) => string>>;

/** Field labels of pods. */
export const podFields: FieldLabels = {
  'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
  'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
  'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
  'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
  'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork ?? false),
  'status.phase': ({ status }) => status?.phase ?? '',
  'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
  // Accepted by the real server, which then compares it with nothing.
  'status.podIPs': () => '',
  'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
};

const about = (prefix: string): FieldLabels =>
  Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (member) => [
        `${prefix}.${member}`,
        (event: KubeObject) => event.involvedObject?.[member] ?? '',
      ],
    ),
  );

const eventFields: FieldLabels = {
  reason: (event) => event.reason ?? '',
  type: (event) => event.type ?? '',
};

/** Field labels of core/v1 events. */
export const coreEventFields: FieldLabels = {
  ...about('involvedObject'),
  ...eventFields,
  source: (event) => event.source?.component || (event.reportingComponent ?? ''),
  reportingComponent: (event) => event.reportingComponent ?? '',
};

/** Field labels of events.k8s.io events, which read the stored form too. */
export const newEventFields: FieldLabels = {
  ...about('regarding'),
  ...eventFields,
  reportingController: (event) => event.reportingComponent ?? '',
};
