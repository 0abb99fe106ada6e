import { env } from 'cloudflare:workers'
import type { Env } from '../../src/env'

/** The bindings of the deployment under test. */
export const bound = env as unknown as Env
