// ResourceSlices, DeviceTaintRules and ResourceClaims of the cluster, as sources of the loop.
import type { DeviceEvent, DeviceResource, ResourceClaim } from '@taintmgr/core/devices';
import {
  apartFromPods,
  isSourceEffect,
  type Source,
  type SourceEffect,
  sourceOf,
  sourceOfMany,
} from '../pod-watch/source.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../proto/convert-devices.ts';
import { type DevicePaths, servedKinds } from '../proto/device-requests.ts';
import type { ItemChange } from '../proto/inventory.ts';
import { Reflector, type ReflectorOptions } from '../proto/reflector.ts';

type Shared = Pick<ReflectorOptions<unknown>, 'random' | 'watch' | 'streamLists'>;

/** The kinds of resource.k8s.io that the cluster serves, and those that may not be read. */
export class DeviceSight {
  /** The paths of the kinds that the cluster serves. */
  readonly paths: DevicePaths;
  readonly #hidden = new Set<DeviceResource>();

  constructor(paths: DevicePaths) {
    this.paths = paths;
  }

  /** The kinds that may not be read. */
  get hidden(): readonly DeviceResource[] {
    return [...this.#hidden].sort();
  }

  /** Notes whether a kind may be read; true if that is news. */
  note(kind: DeviceResource, isHidden: boolean): boolean {
    if (isHidden === this.#hidden.has(kind)) return false;
    if (isHidden) this.#hidden.add(kind);
    else this.#hidden.delete(kind);
    return true;
  }
}

/**
 * A source for each kind that is served. A kind that may not be read holds up nothing else: the
 * machine is told, and then decides about no device. Their objects are read again before a pod
 * leaves because of one (pod-removal.ts), so that their age is no reason to look again at pods that
 * leave because of taints of their nodes.
 */
export function deviceSources(sight: DeviceSight, shared: Shared): readonly Source<DeviceEvent>[] {
  return servedKinds(sight.paths).map(([kind, path]) => {
    const options = { ...shared, resource: kind, path, selectors: {} };
    const source = sourceFor[kind]({ ...options, mayBeAbsent: true, mayBeForbidden: true });
    return apartFromPods(withRights(sight, kind, source));
  });
}

type KindOptions = Omit<ReflectorOptions<unknown>, 'project'>;

const sourceFor: Readonly<Record<DeviceResource, (options: KindOptions) => Source<DeviceEvent>>> = {
  resourceslices: (options) =>
    sourceOf(
      new Reflector({ ...options, project: resourceSliceFromJson }),
      (change): DeviceEvent =>
        change.kind === 'upsert'
          ? { kind: 'resourceSliceUpsert', slice: change.item }
          : { kind: 'resourceSliceDelete', name: change.name },
    ),
  devicetaintrules: (options) =>
    sourceOf(
      new Reflector({ ...options, project: deviceTaintRuleFromJson }),
      (change): DeviceEvent =>
        change.kind === 'upsert'
          ? { kind: 'deviceTaintRuleUpsert', rule: change.item }
          : { kind: 'deviceTaintRuleDelete', name: change.name },
    ),
  resourceclaims: (options) => {
    const events = new ClaimEvents();
    const reflector = new Reflector({ ...options, project: resourceClaimFromJson });
    return sourceOfMany(reflector, (change) => events.of(change));
  },
};

/** A claim that is gone is named by its uid alone. */
class ClaimEvents {
  readonly #byUid = new Map<string, Pick<ResourceClaim, 'namespace' | 'name'>>();

  of(change: ItemChange<ResourceClaim>): readonly DeviceEvent[] {
    if (change.kind === 'upsert') {
      const { uid, namespace, name } = change.item;
      this.#byUid.set(uid, { namespace, name });
      return [{ kind: 'resourceClaimUpsert', claim: change.item }];
    }
    const known = this.#byUid.get(change.uid);
    this.#byUid.delete(change.uid);
    return known ? [{ kind: 'resourceClaimDelete', ...known }] : [];
  }
}

const forbidden = 403;

/** The same source, which says as well when its kind may not be read, and when it may. */
function withRights(
  sight: DeviceSight,
  kind: DeviceResource,
  source: Source<DeviceEvent>,
): Source<DeviceEvent> {
  return {
    ...source,
    handle: (now, input) =>
      source.handle(now, input).flatMap((effect): readonly (DeviceEvent | SourceEffect)[] => {
        if (!isSourceEffect(effect) || effect.kind !== 'notice') return [effect];
        const { notice } = effect;
        const isAbsent = notice.kind === 'absent';
        if (!isAbsent && notice.kind !== 'listed') return [effect];
        const isHidden = isAbsent && notice.failure.status === forbidden;
        if (!sight.note(kind, isHidden)) return [effect];
        return [effect, { kind: 'deviceRights', hidden: sight.hidden }];
      }),
  };
}
