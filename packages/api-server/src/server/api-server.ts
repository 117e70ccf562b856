import type { Resource } from '@taintmgr/sim-cluster/server';
import { PlainServer, type PlainServerOptions } from '@taintmgr/sim-cluster/server';
import type { PolicyAdmission } from '../admission/policy-admission.ts';
import type { Access } from '../auth/access.ts';
import { definitionResource } from '../kinds/definitions.ts';
import { admissionResources } from '../kinds/policies.ts';
import { Desk, type DeskOptions } from './desk.ts';
import { type Endpoint, publishOwnObjects } from './own-service.ts';

export interface ApiServerOptions extends Omit<PlainServerOptions, 'front'>, DeskOptions {}

const kinds: readonly Resource[] = [definitionResource, ...admissionResources];

/** A Kubernetes API server over values, without a socket, for real clients. */
export class ApiServer extends PlainServer {
  /** Who may do what, what was refused, and which rights nobody used. */
  readonly access: Access;
  /** What judges changes before they are stored: the admission policies in the store. */
  readonly policies: PolicyAdmission;

  constructor(options: ApiServerOptions) {
    let desk: Desk | null = null;
    const open = (server: ConstructorParameters<typeof Desk>[0]): Desk => {
      desk = new Desk(server, options);
      return desk;
    };
    super({ ...options, front: { kinds, open } });
    const { access, policies } = desk as unknown as Desk;
    this.access = access;
    this.policies = policies;
  }

  /** Tells the cluster where and how this server can be reached: the Service default/kubernetes. */
  publish(endpoint: Endpoint): void {
    publishOwnObjects(this.as('kube-apiserver'), endpoint);
  }
}
