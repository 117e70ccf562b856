// Handles the scale subresource.
import { invalid, notFound } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { defineResource, type Resource } from '../resources/resource.ts';
import { topLevel } from '../schema/metadata.ts';
import { always, struct } from '../schema/types.ts';
import { labelSelectorRequirements, labelSelectorText } from '../selectors/labels.ts';
import { invalidValue } from '../validation/causes.ts';
import { type Answer, jsonReply } from '../wire/answer.ts';
import { negotiate } from '../wire/negotiation.ts';
import { judgeUpdate } from '../write/admit.ts';
import { replaceObject } from '../write/update.ts';
import { readObject } from './body.ts';
import { managerOf, type ResourceCall, readDryRun, targetOf, writerOf } from './context.ts';
import { readPatch } from './patch.ts';

/** The kind in which every workload shows how many pods it wants. */
const scaleKind: Resource = defineResource({
  group: 'autoscaling',
  plural: 'scales',
  kind: 'Scale',
  singular: 'scale',
  schema: topLevel('Scale', {
    spec: always(struct('ScaleSpec', { replicas: 'int32' })),
    status: always(struct('ScaleStatus', { replicas: 'int32!', selector: 'string' })),
  }),
});

/** GET, PUT and PATCH of RESOURCE/NAME/scale. */
export function handleScale(call: ResourceCall): Answer {
  const { info, request, resource, path } = call;
  const stored = call.backend.store.get(resource.plural, path.namespace, path.name);
  if (!stored) throw notFound(resource, path.name);
  const scale = scaleOf(stored);
  switch (info.verb) {
    case 'update':
      return write(call, stored, readObject(request, info.query, scaleKind).object);
    case 'patch':
      return write(call, stored, readPatch({ ...call, resource: scaleKind })(scale).object);
    default:
      return reply(call, scale);
  }
}

/** Only the number of pods is taken over, by one who has seen the last state or does not say. */
function write(call: ResourceCall, stored: KubeObject, given: KubeObject): Answer {
  const { backend, resource, path } = call;
  const options = {
    dryRun: readDryRun(call, call.info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions'),
    manager: managerOf(call),
  };
  const replicas: number = given.spec?.replicas ?? 0;
  if (replicas < 0) {
    const text = 'must be greater than or equal to 0';
    const cause = invalidValue('spec.replicas', replicas, text);
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, path.name, [cause]);
  }
  const { resourceVersion, uid } = given.metadata ?? {};
  const { resourceVersion: _seen, ...metadata } = stored.metadata;
  const next = {
    ...stored,
    metadata: {
      ...metadata,
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(uid ? { uid } : {}),
    },
    spec: { ...stored.spec, replicas },
  };
  const warnings: string[] = [];
  const judged = { ...options, writer: writerOf(call, warnings), subresource: 'scale' };
  judgeUpdate(backend, resource, scaleOf(next), scaleOf(stored), judged);
  const { object } = replaceObject(backend, resource, targetOf(call), next, options);
  return reply(call, scaleOf(object), warnings);
}

function scaleOf({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = metadata;
  // That of a ReplicationController is a map of labels and nothing more.
  const given = spec.selector?.matchLabels || spec.selector?.matchExpressions;
  const selected = given ? spec.selector : { matchLabels: spec.selector ?? {} };
  const selector = labelSelectorText(labelSelectorRequirements(selected) ?? []);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // As Go leaves zeros out.
    spec: spec.replicas ? { replicas: spec.replicas } : {},
    status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
  };
}

function reply(
  { info, request }: ResourceCall,
  scale: KubeObject,
  warnings: readonly string[] = [],
): Answer {
  const { pretty } = negotiate(request.headers, info.query.get('pretty'));
  return jsonReply(200, scale, pretty, warnings);
}
