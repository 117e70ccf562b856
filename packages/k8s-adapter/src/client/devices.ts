// Finds out where a cluster serves devices.
import { DeviceSight } from '../controller/device-sources.ts';
import {
  deviceGroupPath,
  devicePathsOf,
  deviceVersions,
  servesDevices,
} from '../proto/device-requests.ts';
import { ApiError } from '../transport/errors.ts';
import type { ApiClient } from './client.ts';

/** Asks for the versions of resource.k8s.io; null: the cluster serves no devices. Throws what `get` throws. */
export async function lookForDevices(client: Pick<ApiClient, 'get'>): Promise<DeviceSight | null> {
  const group = await unlessMissing(client.get(deviceGroupPath));
  const lists = deviceVersions(group).map((version) => client.get(`${deviceGroupPath}/${version}`));
  const paths = devicePathsOf(await Promise.all(lists));
  return servesDevices(paths) ? new DeviceSight(paths) : null;
}

async function unlessMissing(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === 404) return null;
    throw error;
  }
}
