CREATE TABLE `bodies` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`headers` text,
	`body` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `bodies_key` ON `bodies` (`project_id`,`id`);--> statement-breakpoint
-- For an hour the version before this one may still run, which reads only `payloads`: until then, `payloads` gets a copy of
-- what is recorded, and nothing is moved out of it. A new database has no such version.
INSERT INTO `state` (`name`, `value`) SELECT 'payloads_move_from', (unixepoch() + 3600) * 1000 WHERE EXISTS (SELECT 1 FROM `payloads`);
