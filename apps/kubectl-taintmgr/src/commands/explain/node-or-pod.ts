import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { history } from '@taintmgr/k8s-adapter/explain';
import { type ClusterReader, ifThere } from '@taintmgr/k8s-adapter/survey';
import { workloadKindWords } from '../../cli/workload-words.ts';
import { subjectKinds } from './flags.ts';

/** Tells whether a name that somebody typed alone is that of a node or of a pod, be it gone. Throws UsageError: of both, or of none. */
export async function nodeOrPod(
  reader: ClusterReader,
  namespace: string,
  name: string,
): Promise<'node' | 'pod'> {
  const [node, pod] = await Promise.all([
    reader.ifAllowed(() => reader.nodeIfThere(name)),
    reader.ifAllowed(() => ifThere(() => reader.pod(namespace, name))),
  ]);
  const what = JSON.stringify(name);
  if (node && pod) {
    throw new UsageError(
      `${what} is a node and a pod of namespace ${namespace}: want explain node ${name} or explain pod ${name}`,
    );
  }
  if (node) return 'node';
  if (pod) return 'pod';
  const kinds = [...subjectKinds, ...workloadKindWords].join(', ');
  const unread = reader.refused.map((message) => `; ${message}`).join('');
  const { stories } = await history(reader, { kind: 'pod', namespace, name });
  if (stories.length > 0) return 'pod';
  throw new UsageError(
    `there is no node ${what}, and no pod in namespace ${namespace}; want explain KIND NAME: ${kinds}${unread}`,
  );
}
