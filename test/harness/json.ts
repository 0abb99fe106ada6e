import type { ExtractSchema } from 'hono/types'
import type { App } from '../../src/app'
import type { FaultName } from '../../src/lib/faults'

/**
 * The JSON body of any answer of the API, typed by the routes themselves: it has every field that some route answers,
 * with every type that the field has somewhere. Null and absence are left out, so that a test may read
 * `body.data[0].summary.amount` without ceremony: a test that reads a field has seen to it that the field is there.
 *
 * A field that no route answers does not compile. Where one route's own types matter, name them: `call<Project>(…)`.
 */
export type Json = Merged<Answers | Problem>

/** RFC 9457, as src/http/errors.ts writes it. */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  code: FaultName
  request_id: string
  errors: { pointer: string; code: string; message: string }[]
}

type Routes = ExtractSchema<App>
type Answers = { [Path in keyof Routes]: AnswerOf<Routes[Path][keyof Routes[Path]]> }[keyof Routes]
/** Without features and plans, whose `key` is a text: the `key` of other answers is an API key. */
type AnswerOf<Route> = Route extends { output: infer Output } ? Exclude<Output, { key: string }> : never

/** One type for many: objects become one that has the fields of all, at every depth. */
type Merged<T> =
  | Extract<T, Plain>
  | ([Lists<T>] extends [never] ? never : Rows<Merged<Lists<T>[number]>>)
  | ([Objects<T>] extends [never] ? never : { [Name in NameIn<Objects<T>>]: Merged<FieldOf<Objects<T>, Name>> })

type Plain = string | number | boolean
type Lists<T> = Extract<T, readonly unknown[]>
type Objects<T> = Exclude<T, Plain | null | undefined | readonly unknown[]>
type NameIn<T> = T extends unknown ? Named<keyof T> : never
type FieldOf<T, Name> = T extends unknown ? (Name extends Named<keyof T> ? T[Name & keyof T] : never) : never
/** An object of any shape, whose names are all texts, adds no field. */
type Named<Name> = string extends Name ? never : Name

/** A list whose first row is taken to be there. */
interface Rows<T> extends Array<T> {
  0: T
}
