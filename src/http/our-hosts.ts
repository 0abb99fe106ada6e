import type { Settings } from '../env'

/** The host names of this deployment: no address that a customer chooses may lead to them, or below them. */
export function ourHosts({ publicOrigin, surfaceTarget }: Settings): string[] {
  const own = publicOrigin === null ? null : new URL(publicOrigin).hostname
  return [own, surfaceTarget].filter((host) => host !== null)
}
