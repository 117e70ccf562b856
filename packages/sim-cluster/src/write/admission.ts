// A change as admission sees it before it is stored, and the user who requested it.
import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { Resource } from '../resources/resource.ts';
import type { WebhookAnswers } from './webhook-answers.ts';

/** Rules that say what a user may do; `*` stands for anything in every list. */
export interface Rule {
  /** Such as `get`. */
  readonly verbs: readonly string[];
  /** '' is the core group. */
  readonly apiGroups?: readonly string[];
  /** `pods`, `pods/eviction`. */
  readonly resources?: readonly string[];
  /** Left out or empty: objects of any name. */
  readonly resourceNames?: readonly string[];
  /** `/healthz`, `/apis/*`. */
  readonly nonResourceURLs?: readonly string[];
  /** Only in this namespace; everywhere when absent. */
  readonly namespace?: string;
}

/** Further attributes of a user, by keys such as `example.com/team`. */
export type Extra = Readonly<Record<string, readonly string[]>>;

/** A user as authentication finds one. */
export interface User {
  /** Such as `system:serviceaccount:kube-system:taintmgr`. */
  readonly name: string;
  /** Left out for users without one. */
  readonly uid?: string;
  /** Further attributes, as admission and reviews show them. */
  readonly extra?: Extra;
  /** Members of `system:masters` may do everything. */
  readonly groups: readonly string[];
  /** The user's rights beside those that RBAC objects in the cluster grant. */
  readonly rules: readonly Rule[];
}

type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** One requested change. */
export interface AdmissionRequest {
  /** The change that is requested; server-side apply of a missing object is a CREATE. */
  readonly operation: Operation;
  /** The resource as a policy or webhook matches it. */
  readonly resource: Resource;
  /** The request as the client sent it, where a policy sees it in another version or group. */
  readonly asked?: Pick<AdmissionRequest, 'resource' | 'object' | 'oldObject'>;
  /** '' for the object itself. */
  readonly subresource: string;
  /** '' for cluster-scoped kinds. */
  readonly namespace: string;
  /** '' where a whole collection is deleted. */
  readonly name: string;
  /** The new object; null for DELETE. */
  readonly object: KubeObject | null;
  /** The stored object; null for CREATE. */
  readonly oldObject: KubeObject | null;
  /** True if nothing is stored, whatever the judgement. */
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions as the wire has them. */
  readonly options: { readonly [member: string]: Json };
}

/** A client that writes through the API, and the callback for its warnings. */
export interface Writer {
  /** The user who requests the change. */
  readonly user: User;
  /** True for the deletion of a collection: its objects are judged without their names. */
  readonly isCollection?: boolean;
  /** The other options of the request. */
  readonly options?: { readonly [name in 'fieldManager' | 'fieldValidation']?: string };
  /** The answers of webhooks so far; left out: webhooks are not asked. */
  readonly answers?: WebhookAnswers;
  /** Receives a text for the Warning header. */
  warn(text: string): void;
}

/**
 * Judges a change before it is stored. Throws ApiError to refuse it, and Unanswered while a webhook
 * has to be asked.
 */
export interface Admission {
  /** Judges one change; returns if it may be stored. */
  judge(request: AdmissionRequest, writer: Writer): void;
}
