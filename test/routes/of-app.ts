import * as z from 'zod'
import { app } from '../../src/app'
import { type RouteEntry, routeTable } from '../../src/http/openapi'

/** Every route with an operation, as the app itself lists them: tests that walk it try a new route without being told. */
export const ROUTES = routeTable(app).filter(({ meta }) => meta.operation !== undefined)

export const nameOf = ({ method, path }: Pick<RouteEntry, 'method' | 'path'>) => `${method} ${path}`
export const takesBody = ({ meta }: RouteEntry) => meta.body !== undefined
export const isList = ({ method, meta }: RouteEntry) =>
  method === 'GET' && meta.query instanceof z.ZodObject && 'cursor' in meta.query.shape
