import { describe, expect, it } from 'vitest'
import { call, KEYS } from '../harness'

describe('a method that a path does not take', () => {
  it.each([
    ['PUT', KEYS, 'HEAD, GET, POST'],
    ['PATCH', KEYS, 'HEAD, GET, POST'],
    ['GET', `${KEYS}/key_1/rotate`, 'POST'],
    ['PUT', `${KEYS}/key_1`, 'HEAD, GET, PATCH, DELETE'],
    ['POST', `${KEYS}/self`, 'HEAD, GET, PATCH, DELETE'],
    ['POST', '/healthz', 'HEAD, GET'],
    ['POST', '/', 'HEAD, GET'],
    ['PUT', '/platform/v1/projects/prj_1', 'HEAD, GET, PATCH, DELETE'],
    ['GET', '/auth/codes', 'POST'],
    ['GET', '/ingest/con_1', 'POST'],
    ['PROPFIND', KEYS, 'HEAD, GET, POST'],
    ['OPTIONS', KEYS, 'HEAD, GET, POST'],
  ])('%s %s is a 405 that allows %s', async (method, path, allow) => {
    const answer = await call(path, { method })
    expect([answer.status, answer.headers.get('Allow')], answer.text).toEqual([405, allow])
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it.each(['/platform', '/platform/v1', '/platform/v1/', `${KEYS}/`, '/auth', '/ingest', '/favicon.ico', '/%00'])(
    'and a path that is not served is a 404 under every method: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await call(path, { method })
        expect([answer.status, answer.body.code], method).toEqual([404, 'not_found'])
      }
    },
  )
})
