CREATE TABLE `customer_moves` (
	`project_id` text NOT NULL,
	`ref` text NOT NULL,
	`moved_at` integer NOT NULL,
	`customer` text NOT NULL,
	`vendor` text NOT NULL,
	PRIMARY KEY(`project_id`, `ref`, `moved_at`, `customer`, `vendor`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `customer_moves_age` ON `customer_moves` (`project_id`,`moved_at`);--> statement-breakpoint
CREATE TRIGGER `customer_links_moved` AFTER UPDATE OF `said`, `hint` ON `customer_links`
WHEN OLD.`ref` <> NEW.`ref`
BEGIN INSERT INTO `customer_moves` (`project_id`, `ref`, `moved_at`, `customer`, `vendor`)
	VALUES (OLD.`project_id`, OLD.`ref`, CAST(unixepoch('subsec') * 1000 AS INTEGER), OLD.`customer`, OLD.`vendor`)
	ON CONFLICT DO NOTHING; END;
