CREATE TABLE `packed_bodies` (
	`key` integer PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`headers` text,
	`encoding` text,
	`bytes` integer NOT NULL,
	`body` text NOT NULL
);
--> statement-breakpoint
-- For an hour the version before this one may still run, which reads only `bodies`: until then, payloads are recorded there.
INSERT INTO `state` (`name`, `value`) SELECT 'packed_from', (unixepoch() + 3600) * 1000 WHERE EXISTS (SELECT 1 FROM `connections`);
