// Chooses devices on a node for claims, as kube-scheduler does: the first that suit, in order, going back
// where a later request gets none.
import type { KubeObject } from '../objects/kube-object.ts';
import type { Toleration } from '../objects/tolerations.ts';
import {
  attributeOf,
  type Device,
  isTolerated,
  type Pool,
  type Reach,
  reachesNode,
  type SelectsDevice,
} from './device-pools.ts';
import type { Objects } from './volume-claims.ts';

/** Something that only an administrator can mend stops the search for a node: kube-scheduler's SchedulerError. */
export class SearchError extends Error {}

interface Selector {
  readonly cel?: { readonly expression: string };
}

/** One choice of a request: `exactly`, or one of `firstAvailable`. */
interface Asked {
  readonly name?: string;
  readonly deviceClassName: string;
  readonly selectors?: readonly Selector[];
  readonly allocationMode?: string;
  readonly count?: number;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly Toleration[];
  readonly capacity?: object;
}

interface Request {
  readonly name: string;
  readonly exactly?: Asked;
  readonly firstAvailable?: readonly Asked[];
}

interface Constraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
}

interface Configuration {
  readonly requests?: readonly string[];
  readonly opaque?: object;
}

/** The alternatives of a request, the preferred one first. */
export function alternativesOf({ name, exactly, firstAvailable }: Request): readonly Wish[] {
  if (exactly) return [{ request: name, parent: name, asked: exactly }];
  return (firstAvailable ?? []).map((asked) => ({
    request: `${name}/${asked.name}`,
    parent: name,
    asked,
  }));
}

interface Wish {
  /** `gpu`, `gpu/big`. */
  readonly request: string;
  readonly parent: string;
  readonly asked: Asked;
}

/** The requests of a claim. */
export function requestsOf({ spec }: KubeObject): readonly Request[] {
  return spec.devices?.requests ?? [];
}

/** The constraints of a claim. */
export function constraintsOf({ spec }: KubeObject): readonly Constraint[] {
  return spec.devices?.constraints ?? [];
}

/** Why no node can take a pod with this claim, in kube-scheduler's words; null: there may be one. */
export function classRefusal(objects: Objects, claim: KubeObject): string | null {
  for (const { request, asked } of requestsOf(claim).flatMap(alternativesOf)) {
    const { deviceClassName } = asked;
    if (objects.get('deviceclasses', '', deviceClassName)) continue;
    return `request ${request}: device class ${deviceClassName} does not exist`;
  }
  return null;
}

/** The devices to choose from. */
export interface Supply {
  readonly objects: Objects;
  readonly pools: readonly Pool[];
  readonly taken: ReadonlySet<string>;
  readonly selects: SelectsDevice;
  /** The results of selectors for devices, kept for the next node. */
  readonly suits: Map<object, Map<Device, boolean>>;
}

/** The number of failed choices on one node after which the search moves to another node. */
const attemptsMax = 10_000;

/** A device for a request. */
interface Choice {
  readonly wish: Wish;
  readonly device: Device;
}

/** The devices of one claim after another. */
export type Chosen = ReadonlyMap<KubeObject, readonly Choice[]>;

/** A request of a claim, in turn. */
interface Turn {
  readonly claim: KubeObject;
  readonly alternatives: readonly Wish[];
}

/**
 * Finds devices on a node for claims that have none; null: there are not enough. Throws SearchError where an
 * expression cannot be evaluated, or a pool of which all is wanted is not whole.
 */
export function chooseDevices(
  supply: Supply,
  claims: readonly KubeObject[],
  node: KubeObject,
): Chosen | null {
  const turns = claims.flatMap((claim) =>
    requestsOf(claim).map((request): Turn => ({ claim, alternatives: alternativesOf(request) })),
  );
  const search = new Search(supply, node);
  return search.from(turns, 0) ? search.chosen(claims) : null;
}

class Search {
  readonly #supply: Supply;
  readonly #node: KubeObject;
  readonly #choices: { readonly claim: KubeObject; readonly choice: Choice }[] = [];
  readonly #used = new Set<string>();
  #attemptsLeft = attemptsMax;

  constructor(supply: Supply, node: KubeObject) {
    this.#supply = supply;
    this.#node = node;
  }

  chosen(claims: readonly KubeObject[]): Chosen {
    return new Map(
      claims.map((claim) => [
        claim,
        this.#choices.filter((one) => one.claim === claim).map(({ choice }) => choice),
      ]),
    );
  }

  from(turns: readonly Turn[], at: number): boolean {
    const turn = turns[at];
    if (!turn) return true;
    const next = (): boolean => this.from(turns, at + 1);
    return turn.alternatives.some((wish) =>
      wish.asked.allocationMode === 'All'
        ? this.#takeAll(turn.claim, wish, next)
        : this.#take(turn.claim, wish, wish.asked.count ?? 1, 0, next),
    );
  }

  /** Takes `left` more devices, from the one at `start` on, and continues with `next`. */
  #take(claim: KubeObject, wish: Wish, left: number, start: number, next: () => boolean): boolean {
    if (left === 0) return next();
    const devices = this.#devices();
    const isRight = (device: Device): boolean =>
      this.#suits(claim, wish, device) && this.#isFree(claim, wish, device);
    for (let at = start; at <= devices.length - left; at++) {
      const device = devices[at] as Device;
      if (!isRight(device) || this.#attemptsLeft-- <= 0) continue;
      this.#add(claim, { wish, device });
      if (this.#take(claim, wish, left - 1, at + 1, next)) return true;
      this.#remove();
    }
    return false;
  }

  #takeAll(claim: KubeObject, wish: Wish, next: () => boolean): boolean {
    const { pools } = this.#supply;
    const half = pools.find(
      ({ isWhole, reaches }) => !isWhole && reaches.some((one) => reachesNode(one, this.#node)),
    );
    if (half) {
      const { namespace, name } = claim.metadata;
      const who = `claim ${namespace}/${name}, request ${wish.request}`;
      throw new SearchError(
        `${who}: asks for all devices, but resource pool ${half.id} is currently being updated`,
      );
    }
    const all = this.#devices().filter((device) => this.#suits(claim, wish, device));
    const before = this.#choices.length;
    const isThere =
      all.length > 0 &&
      all.every((device) => {
        if (!this.#isFree(claim, wish, device)) return false;
        this.#add(claim, { wish, device });
        return true;
      });
    if (isThere && next()) return true;
    while (this.#choices.length > before) this.#remove();
    return false;
  }

  #add(claim: KubeObject, choice: Choice): void {
    this.#choices.push({ claim, choice });
    if (!choice.wish.asked.adminAccess) this.#used.add(choice.device.id);
  }

  #remove(): void {
    const last = this.#choices.pop();
    if (last && !last.choice.wish.asked.adminAccess) this.#used.delete(last.choice.device.id);
  }

  #known: readonly Device[] | null = null;

  /** The devices that can be used on the node, of complete pools. */
  #devices(): readonly Device[] {
    this.#known ??= this.#supply.pools
      .filter(({ isWhole }) => isWhole)
      .flatMap(({ devices }) => devices.filter(({ reach }) => reachesNode(reach, this.#node)));
    return this.#known;
  }

  #suits(claim: KubeObject, { asked }: Wish, device: Device): boolean {
    const found = this.#supply.suits.get(asked) ?? new Map<Device, boolean>();
    const known = found.get(device);
    if (known !== undefined) return known;
    const isRight = this.#isRight(claim, asked, device);
    this.#supply.suits.set(asked, found.set(device, isRight));
    return isRight;
  }

  /** True if a device is of the class and selected. */
  #isRight(claim: KubeObject, asked: Asked, device: Device): boolean {
    const { objects } = this.#supply;
    const deviceClass = objects.get('deviceclasses', '', asked.deviceClassName);
    const { namespace, name } = claim.metadata;
    return (
      this.#isSelected(`class ${asked.deviceClassName}`, deviceClass?.spec.selectors, device) &&
      this.#isSelected(`claim ${namespace}/${name}`, asked.selectors, device)
    );
  }

  #isSelected(who: string, selectors: readonly Selector[] = [], device: Device): boolean {
    return selectors.every(({ cel }, index) => {
      const selected = this.#supply.selects(cel?.expression ?? '', device.facts);
      if (typeof selected === 'boolean') return selected;
      throw new SearchError(`${who}: selector #${index}: ${selected.error}`);
    });
  }

  #isFree(claim: KubeObject, wish: Wish, device: Device): boolean {
    const { asked } = wish;
    const isTaken = this.#supply.taken.has(device.id) || this.#used.has(device.id);
    if (isTaken && !asked.adminAccess) return false;
    if (asked.adminAccess && this.#isIn(claim, wish, device)) return false;
    if (!isTolerated(device, asked.tolerations ?? [])) return false;
    return constraintsOf(claim).every((constraint) =>
      this.#agrees(claim, wish, device, constraint),
    );
  }

  #isIn(claim: KubeObject, { request }: Wish, { id }: Device): boolean {
    return this.#choices.some(
      (one) =>
        one.claim === claim && one.choice.wish.request === request && one.choice.device.id === id,
    );
  }

  /** True if the device has the attribute that all devices of the constraint share. */
  #agrees(
    claim: KubeObject,
    wish: Wish,
    device: Device,
    { requests, matchAttribute }: Constraint,
  ): boolean {
    const isMeant = ({ request, parent }: Wish): boolean =>
      !requests || requests.includes(request) || requests.includes(parent);
    if (matchAttribute === undefined || !isMeant(wish)) return true;
    const value = attributeOf(device, matchAttribute);
    if (value === null) return false;
    return this.#choices.every(
      ({ claim: other, choice }) =>
        other !== claim ||
        !isMeant(choice.wish) ||
        attributeOf(choice.device, matchAttribute) === value,
    );
  }
}

/** `status.allocation` of a claim that gets these devices on a node at `time`. */
export function allocationOf(
  objects: Objects,
  claim: KubeObject,
  choices: readonly Choice[],
  time: string,
): KubeObject['status'] {
  const results = choices.map(({ wish: { request, asked }, device }) => ({
    request,
    driver: device.facts.driver,
    pool: device.pool,
    device: device.name,
    ...(asked.adminAccess === undefined ? {} : { adminAccess: asked.adminAccess }),
    ...(asked.tolerations ? { tolerations: asked.tolerations } : {}),
  }));
  const config = configOf(objects, claim, choices);
  const nodeSelector = reachOfAll(choices.map(({ device }) => device.reach));
  return {
    devices: {
      ...(results.length > 0 ? { results } : {}),
      ...(config.length > 0 ? { config } : {}),
    },
    ...(nodeSelector ? { nodeSelector } : {}),
    allocationTimestamp: time,
  };
}

function configOf(
  objects: Objects,
  { spec }: KubeObject,
  choices: readonly Choice[],
): readonly object[] {
  const wishes = [...new Set(choices.map(({ wish }) => wish))];
  const byClass = wishes.flatMap(({ request, asked }) => {
    const found = objects.get('deviceclasses', '', asked.deviceClassName);
    const given: readonly Configuration[] = found?.spec.config ?? [];
    return given.map(({ opaque }) => ({ source: 'FromClass', requests: [request], opaque }));
  });
  const given: readonly Configuration[] = spec.devices?.config ?? [];
  const byClaim = given
    .filter(
      ({ requests }) =>
        !requests ||
        wishes.some(
          ({ request, parent }) => requests.includes(request) || requests.includes(parent),
        ),
    )
    .map(({ requests, opaque }) => ({
      source: 'FromClaim',
      ...(requests ? { requests } : {}),
      opaque,
    }));
  return [...byClass, ...byClaim];
}

/**
 * The reach of all these devices together: one node, or the combined selectors; null: every node.
 */
function reachOfAll(reaches: readonly Reach[]): Reach['nodeSelector'] | null {
  const named = reaches.find(({ nodeName }) => nodeName !== undefined);
  if (named?.nodeName !== undefined) {
    const field = { key: 'metadata.name', operator: 'In', values: [named.nodeName] };
    return { nodeSelectorTerms: [{ matchFields: [field] }] };
  }
  const terms = reaches.flatMap(({ nodeSelector }) => nodeSelector?.nodeSelectorTerms?.[0] ?? []);
  if (terms.length === 0) return null;
  const joined = (member: keyof NodeTerms): NodeTerms => {
    const all = terms.flatMap((term) => term[member] ?? []);
    const texts = new Map(all.map((one) => [JSON.stringify(one), one] as const));
    return texts.size === 0 ? {} : { [member]: [...texts.values()] };
  };
  return { nodeSelectorTerms: [{ ...joined('matchExpressions'), ...joined('matchFields') }] };
}

type NodeTerms = NonNullable<NonNullable<Reach['nodeSelector']>['nodeSelectorTerms']>[number];
