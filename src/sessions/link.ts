import { Hono } from 'hono'
import type { HttpEnv } from '../http/context'
export const linkRoutes = new Hono<HttpEnv>()
