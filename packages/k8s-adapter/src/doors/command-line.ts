// The door of a command line that does not know yet what to do: kubectl's flags, and what commands may end in.
// It is a door of its own so that help loads nothing that talks to a cluster.

export { type ConnectionFlag, connectionFlags } from '../kubeconfig/connection-flags.ts';
export {
  ApiError,
  ConnectionError,
  KubeconfigError,
  WrongServerError,
} from '../transport/errors.ts';
