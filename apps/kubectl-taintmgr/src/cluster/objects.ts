// API objects as the API server sends them, as far as commands read them beside what the engine
// reads. Everything but the name may be absent.

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
  readonly ownerReferences?: readonly OwnerReference[];
}

interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** Who wrote which fields last. */
interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface NodeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface PodObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly priority?: number };
  readonly status?: { readonly qosClass?: string; readonly conditions?: readonly Condition[] };
}

export interface LeaseObject {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}
