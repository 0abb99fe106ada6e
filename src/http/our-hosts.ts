import type { Settings } from '../env'

/** The host names of this deployment: no address that a customer chooses may lead to them, or below them. */
export function ourHosts({ publicOrigin }: Settings): string[] {
  return publicOrigin === null ? [] : [new URL(publicOrigin).hostname]
}
