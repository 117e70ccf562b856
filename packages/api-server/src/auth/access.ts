import type { Store, User } from '@taintmgr/sim-cluster/server';
import type { Tokens } from './authenticator.ts';
import { type Attributes, allows } from './authorizer.ts';
import { type Grant, isMaster, ownGrants } from './grants.ts';
import { type RbacGrants, rbacGrants, rbacResources } from './rbac.ts';
import { type Denial, type Right, RightsUse } from './rights.ts';

/** The answer to one authorization question, with the reason. */
export interface Decision {
  /** The grant that allows the request; null: none does. */
  readonly grant: Grant | null;
  /** The reason as reviews and refusals give it; '' for none. */
  readonly reason: string;
}

/**
 * The rights of users: from the rules that came with a token, from the RBAC objects in the store,
 * and from the defaults of every cluster. Access records the use of rights.
 */
export class Access {
  readonly #store: Store;
  readonly #tokens: Tokens | null;
  readonly #rights = new RightsUse();
  readonly #known = new Map<string, RbacGrants>();

  constructor(store: Store, tokens: Tokens | null) {
    this.#store = store;
    this.#tokens = tokens;
    store.subscribe(() => this.#known.clear(), new Set(rbacResources));
  }

  /** Every request that was forbidden so far, equal ones counted together. */
  get denials(): readonly Denial[] {
    return this.#rights.denials;
  }

  /**
   * The rights that RBAC objects and the rules of a user's token grant and that the user has not
   * used so far. Of a right from several roles only the first counts as used.
   */
  unusedRights(userName: string): readonly Right[] {
    const user = this.named(userName);
    const given = [
      ...user.rules.map((rule) => ({ rule, role: '', reason: '' })),
      ...this.#rbac(user).grants,
    ];
    return this.#rights.unused(userName, given);
  }

  /** All grants of a user. */
  grantsOf(user: User): readonly Grant[] {
    return [...ownGrants(user), ...this.#rbac(user).grants];
  }

  /** Judges and notes down what a user wants to do. */
  judge(user: User, attributes: Attributes): Decision {
    const decision = this.decide(user, attributes);
    if (isMaster(user)) return decision;
    if (decision.grant) this.#rights.use(user.name, decision.grant, attributes);
    else this.#rights.deny(user.name, attributes);
    return decision;
  }

  /** Judges what a user would like to do. */
  decide(user: User, attributes: Attributes): Decision {
    const own = ownGrants(user).find(({ rule }) => allows(rule, attributes));
    if (own) return { grant: own, reason: own.reason };
    const { grants, complaints } = this.#rbac(user);
    const grant = grants.find(({ rule }) => allows(rule, attributes));
    if (grant) return { grant, reason: grant.reason };
    const texts = complaints.length > 1 ? `[${complaints.join(', ')}]` : complaints.join('');
    return { grant: null, reason: texts === '' ? '' : `RBAC: ${texts}` };
  }

  /** The user of that name as a token has him, or with nothing but his name and those groups. */
  named(name: string, groups: readonly string[] = []): User {
    for (const user of this.#tokens?.values() ?? []) {
      if (user.name === name) return { ...user, groups: [...new Set([...user.groups, ...groups])] };
    }
    return { name, groups, rules: [] };
  }

  #rbac(user: User): RbacGrants {
    const key = JSON.stringify([user.name, user.groups]);
    const known = this.#known.get(key) ?? rbacGrants(this.#store, user);
    this.#known.set(key, known);
    return known;
  }
}
