// Handles the scale subresource.
import { invalid, notFound } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import {
  defineResource,
  type Resource,
  type ScaleAccess,
  storageOf,
} from '../resources/resource.ts';
import { topLevel } from '../schema/metadata.ts';
import { always, struct } from '../schema/types.ts';
import { labelSelectorRequirements, labelSelectorText } from '../selectors/labels.ts';
import { invalidValue } from '../validation/causes.ts';
import type { Answer } from '../wire/answer.ts';
import { judgeUpdate } from '../write/admit.ts';
import { toView } from '../write/canonical.ts';
import { replaceObject } from '../write/update.ts';
import { readObject } from './body.ts';
import { managerOf, objectReply, readDryRun, targetOf, writerOf } from './context.ts';
import type { ResourceCall } from './front.ts';
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

const workloadScale: ScaleAccess = {
  read: ({ spec, status }) => {
    // The selector of a ReplicationController is only a map of labels.
    const given = spec.selector?.matchLabels || spec.selector?.matchExpressions;
    const selected = given ? spec.selector : { matchLabels: spec.selector ?? {} };
    return {
      wanted: spec.replicas ?? 0,
      there: status?.replicas ?? 0,
      selector: labelSelectorText(labelSelectorRequirements(selected) ?? []),
    };
  },
  withReplicas: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
};

function accessTo({ custom }: Resource): ScaleAccess {
  return custom?.scale ?? workloadScale;
}

/** GET, PUT and PATCH of RESOURCE/NAME/scale. */
export function handleScale(call: ResourceCall): Answer {
  const { info, resource, path } = call;
  const { storeKey } = storageOf(resource);
  const stored = call.backend.store.get(storeKey, path.namespace, path.name);
  if (!stored) throw notFound(resource, path.name);
  const shown = toView(resource, stored);
  const scale = scaleOf(resource, shown);
  switch (info.verb) {
    case 'update':
      return write(call, shown, readObject(call, scaleKind).object);
    case 'patch':
      return write(call, shown, readPatch({ ...call, resource: scaleKind })(scale).object);
    default:
      return reply(call, scale);
  }
}

/** Changes only the number of pods, for a client that has seen the last state or names none. */
function write(call: ResourceCall, shown: KubeObject, given: KubeObject): Answer {
  const { backend, resource, path } = call;
  const isPatch = call.info.verb === 'patch';
  const options = {
    dryRun: readDryRun(call, isPatch ? 'PatchOptions' : 'UpdateOptions'),
    manager: managerOf(call),
    // A client without a resourceVersion scales any state.
    patch: isPatch || !given.metadata?.resourceVersion,
  };
  const replicas: number = given.spec?.replicas ?? 0;
  if (replicas < 0) {
    const text = 'must be greater than or equal to 0';
    const cause = invalidValue('spec.replicas', replicas, text);
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, path.name, [cause]);
  }
  const { resourceVersion, uid } = given.metadata ?? {};
  const { resourceVersion: _seen, ...metadata } = shown.metadata;
  const next = accessTo(resource).withReplicas(
    {
      ...shown,
      metadata: {
        ...metadata,
        ...(resourceVersion ? { resourceVersion } : {}),
        ...(uid ? { uid } : {}),
      },
    },
    replicas,
  );
  const warnings: string[] = [];
  const judged = { ...options, writer: writerOf(call, warnings), subresource: 'scale' };
  judgeUpdate(backend, resource, scaleOf(resource, next), scaleOf(resource, shown), judged);
  const { object } = replaceObject(backend, resource, targetOf(call), next, options);
  return reply(call, scaleOf(resource, toView(resource, object)), warnings);
}

function scaleOf(resource: Resource, object: KubeObject): KubeObject {
  const { metadata } = object;
  const { name, namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = metadata;
  const { wanted, there, selector } = accessTo(resource).read(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    // Zeros are left out, as in Go.
    spec: wanted ? { replicas: wanted } : {},
    status: { replicas: there, ...(selector === '' ? {} : { selector }) },
  };
}

function reply(call: ResourceCall, scale: KubeObject, warnings: readonly string[] = []): Answer {
  return objectReply({ ...call, resource: scaleKind }, 200, scale, warnings);
}
