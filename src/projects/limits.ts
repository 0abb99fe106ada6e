import { DAY } from '../lib/time'

/** Length of a project's name, in code points. */
export const MAX_PROJECT_NAME = 100

/** How long an owner can restore a deleted project (ms). Then its data is deleted. */
export const RESTORABLE_FOR = 30 * DAY
