// The Pod Security Standard "restricted" (Kubernetes documentation, Pod Security Standards), for pods that
// run on Linux without volumes of their own making.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** Volumes that it allows. */
const volumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** What of a pod's spec it forbids, `containers[0].securityContext.privileged: true`. */
export function violations(spec: KubeObject['spec']): readonly string[] {
  const faults: string[] = [];
  const forbid = (place: string, value: unknown, allowed: readonly unknown[]): void => {
    if (!allowed.includes(value)) faults.push(`${place}: ${JSON.stringify(value)}`);
  };
  for (const shared of ['hostNetwork', 'hostPID', 'hostIPC']) {
    forbid(shared, spec[shared], [undefined, false]);
  }
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const kinds = Object.keys(volume).filter((name) => name !== 'name');
    for (const kind of kinds) forbid(`volumes[${index}]`, kind, volumes);
  }
  const ofPod = spec.securityContext ?? {};
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  for (const [index, { securityContext: own = {}, ports = [] }] of containers.entries()) {
    const at = `containers[${index}].securityContext`;
    forbid(`${at}.privileged`, own.privileged, [undefined, false]);
    forbid(`${at}.allowPrivilegeEscalation`, own.allowPrivilegeEscalation, [false]);
    forbid(`${at}.runAsNonRoot`, own.runAsNonRoot ?? ofPod.runAsNonRoot, [true]);
    forbid(`${at}.runAsUser`, own.runAsUser === 0 || ofPod.runAsUser === 0, [false]);
    const profile = own.seccompProfile ?? ofPod.seccompProfile;
    forbid(`${at}.seccompProfile.type`, profile?.type, ['RuntimeDefault', 'Localhost']);
    forbid(`${at}.capabilities.drop`, own.capabilities?.drop?.includes('ALL'), [true]);
    for (const added of own.capabilities?.add ?? []) {
      forbid(`${at}.capabilities.add`, added, ['NET_BIND_SERVICE']);
    }
    for (const { hostPort } of ports) forbid(`${at}.hostPort`, hostPort, [undefined, 0]);
  }
  return faults;
}
