package dev.flotilla.app.wrong.train;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.flotilla.app.wrong.strategy.two.Two;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.util.Date;

/** Does, in a package that is not null-marked, all that nobody may. */
public final class Careless {

  private Careless() {}

  @SuppressWarnings({"JavaUtilDate", "BanSerializableRead"})
  static Object read(InputStream input, JavaClass foreign) throws IOException {
    try (var objects = new ObjectInputStream(input)) {
      return new Object[] {objects.readObject(), new Date(), foreign, new Two(1)};
    } catch (ClassNotFoundException e) {
      System.exit(1);
      throw new IllegalStateException(e);
    }
  }
}
