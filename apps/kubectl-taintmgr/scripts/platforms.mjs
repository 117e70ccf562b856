/** For what machines there are archives: as Go, and with it krew, names them, and as Node does. */
export const platforms = [
  { os: 'linux', arch: 'amd64', node: 'linux-x64', bin: 'kubectl-taintmgr' },
  { os: 'linux', arch: 'arm64', node: 'linux-arm64', bin: 'kubectl-taintmgr' },
  { os: 'darwin', arch: 'amd64', node: 'darwin-x64', bin: 'kubectl-taintmgr' },
  { os: 'darwin', arch: 'arm64', node: 'darwin-arm64', bin: 'kubectl-taintmgr' },
  { os: 'windows', arch: 'amd64', node: 'win32-x64', bin: 'kubectl-taintmgr.exe' },
];

/** The machine that this runs on. */
export const ownPlatform = platforms.find(
  ({ node }) => node === `${process.platform}-${process.arch}`,
);

/** `linux-amd64` */
export function nameOf({ os, arch }) {
  return `${os}-${arch}`;
}

/** The name of the archive for a platform. */
export function archiveOf(platform, version) {
  return `kubectl-taintmgr-v${version}-${nameOf(platform)}.tar.gz`;
}
