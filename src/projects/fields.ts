import * as z from 'zod'
import { visibleText } from '../http/fields'

export const ProjectBody = z.strictObject({ name: visibleText(100) }).meta({ id: 'ProjectName' })
