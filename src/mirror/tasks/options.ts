/** The options of a run of a tasks sync: the settings' options, and the targets that receive changes. */
import { z } from 'zod';
import { tasksOptions as inSettings } from '../../settings/schema-sync.ts';

export const tasksRunOptions = z.object({ ...inSettings.shape, targets: z.array(z.string()) });

export type TasksOptions = z.infer<typeof tasksRunOptions>;
