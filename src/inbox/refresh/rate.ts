import type { Runtime } from '../../env'
import { limit } from '../../http/rate-limit'

/** Counts a refresh against the project's limit. @throws {Fault} `rate_limited` */
export function countRefresh({ limits }: Runtime, projectId: string): Promise<void> {
  return limit(limits, 'refresh', projectId, 'This project has refreshed too many customers.')
}
