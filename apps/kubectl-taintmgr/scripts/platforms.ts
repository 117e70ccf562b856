/** A machine that there are programs for: as Go, and with it krew, names it, and as Node does. */
export interface Platform {
  readonly os: 'linux' | 'darwin' | 'windows';
  readonly arch: 'amd64' | 'arm64';
  readonly node: string;
}

export const platforms: readonly Platform[] = [
  { os: 'linux', arch: 'amd64', node: 'linux-x64' },
  { os: 'linux', arch: 'arm64', node: 'linux-arm64' },
  { os: 'darwin', arch: 'amd64', node: 'darwin-x64' },
  { os: 'darwin', arch: 'arm64', node: 'darwin-arm64' },
  { os: 'windows', arch: 'amd64', node: 'win32-x64' },
];

/** The machine that this runs on. */
export const ownPlatform: Platform | undefined = platforms.find(
  ({ node }) => node === `${process.platform}-${process.arch}`,
);

/** `linux-amd64` */
export function nameOf({ os, arch }: Platform): string {
  return `${os}-${arch}`;
}

/** The file that a program is on a platform. */
export function fileOf(program: string, { os }: Platform): string {
  return os === 'windows' ? `${program}.exe` : program;
}

/** The name of the archive of a program for a platform. */
export function archiveOf(program: string, platform: Platform, version: string): string {
  return `${program}-v${version}-${nameOf(platform)}.tar.gz`;
}
