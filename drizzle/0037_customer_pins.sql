CREATE TRIGGER `customer_links_repinned` AFTER UPDATE OF `pinned` ON `customer_links`
WHEN OLD.`pinned` IS NOT NEW.`pinned` AND coalesce(OLD.`pinned`, OLD.`ref`, '') <> ''
	AND coalesce(OLD.`pinned`, '') NOT GLOB 'ers_*' AND coalesce(NEW.`pinned`, '') NOT GLOB 'ers_*'
	AND NOT EXISTS (SELECT 1 FROM `consumers` `c` WHERE `c`.`project_id` = OLD.`project_id` AND `c`.`id` = OLD.`pinned` AND `c`.`merged_into` = NEW.`pinned`)
BEGIN INSERT INTO `customer_moves` (`project_id`, `ref`, `moved_at`, `customer`, `vendor`)
	VALUES (OLD.`project_id`, coalesce(OLD.`pinned`, OLD.`ref`), CAST(unixepoch('subsec') * 1000 AS INTEGER), OLD.`customer`, OLD.`vendor`)
	ON CONFLICT DO NOTHING; END;--> statement-breakpoint
INSERT INTO `state` (`name`, `value`) SELECT 'pins_known_from', CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE EXISTS (SELECT 1 FROM `customer_links`);
