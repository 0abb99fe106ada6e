import { isLocalhost } from '../lib/localhost'
import type { DeploymentSettings } from '../settings'

/** Below it are the addresses that Cloudflare gives to Workers. */
export const WORKERS_DEV = 'workers.dev'

/** The host names of this deployment: no address that a customer chooses may lead to them, or below them. */
export function ourHosts({ publicOrigin, surfaceTarget, otherHosts }: DeploymentSettings): string[] {
  const own = publicOrigin === null ? null : new URL(publicOrigin).hostname
  return [own, surfaceTarget, ...otherHosts].filter((host) => host !== null)
}

/**
 * Whether a request to this host is meant for the deployment itself: this machine, its own hosts, and Cloudflare's addresses
 * of the Worker, such as those of previews. Only whoever deploys to the account has those.
 */
export function isOurs(settings: DeploymentSettings, hostname: string): boolean {
  return isLocalhost(hostname) || hostname.endsWith(`.${WORKERS_DEV}`) || ourHosts(settings).includes(hostname)
}

/** A host name without the root: `example.com.` is the same host as `example.com`. */
export function rootless(hostname: string): string {
  return hostname.replace(/\.$/, '')
}
